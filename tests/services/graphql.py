"""A GraphQL server for tests, on a loopback port: the schemas that the shipped tool files were written for."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ariadne import MutationType, QueryType, ScalarType, make_executable_schema
from ariadne.asgi import GraphQL

from services.rest import listening

CREDITCARD = """
scalar DateTime
type Query {
  SpendingByCategory(customerid: Int!, limit: Int = 10): [Category!]
  SpendingByDay(customerid: Int!, fromTime: DateTime!, toTime: DateTime!): [Day!]
  Transactions(customerid: Int!, fromTime: DateTime!, toTime: DateTime!): [Transaction!]
  CustomerChatMessage(customerid: Int!, limit: Int = 10): [ChatMessage!]
}
type Mutation { AddChatMessage(message: ChatMessageInput!): Saved }
type Category { timeWeek: DateTime!, category: String!, spending: Float! }
type Day { timeDay: DateTime!, spending: Float! }
type Transaction { time: DateTime!, cardNo: Float!, amount: Float!, merchantName: String!, category: String! }
type ChatMessage { role: String!, content: String!, name: String }
input ChatMessageContextInput { customerid: Int! }
input ChatMessageInput { role: String!, content: String!, name: String, context: ChatMessageContextInput! }
type Saved { event_time: String! }
"""

NUTSHOP = """
scalar DateTime
type Query {
  OrderAgain(customerid: Int!, limit: Int = 10, offset: Int = 0): [Again!]
  SpendingByWeek(customerid: Int!, limit: Int = 10, offset: Int = 0): [Week!]
  Orders(customerid: Int!, limit: Int = 10, offset: Int = 0): [Order!]
  OrdersByTimeRange(customerid: Int!, fromTime: DateTime!, toTime: DateTime!): [Order!]
  Products(id: Int, limit: Int = 10, offset: Int = 0): [Product!]
  CustomerChatMessage(customerid: Int!, limit: Int = 10): [ChatMessage!]
  InternalGetChatMessages(customerid: Int!, limit: Int = 10, offset: Int = 0): [ChatMessage!]
}
type Mutation {
  AddChatMessage(message: ChatMessageInput!): Saved
  InternalSaveChatMessage(message: ChatMessageInput!): Saved
}
type Product {
  id: Int!, name: String!, sizing: String, weight_in_gram: Int, type: String, category: String, usda_id: Int,
  updated: DateTime
}
type Again { product: Product!, num: Int!, quantity: Int! }
type Week { week: DateTime!, total_spend: Float!, total_savings: Float! }
type Total { price: Float!, discount: Float! }
type Item { quantity: Int!, unit_price: Float!, discount0: Float, total: Float, product: Product! }
type Order { id: Int!, customerid: Int!, timestamp: DateTime!, items(limit: Int = 10): [Item!], total: Total! }
type ChatMessage {
  role: String!, content: String!, functionCall: String, name: String, customerid: Int!, timestamp: String, uuid: String
}
input ChatMessageInput { role: String!, content: String!, name: String, functionCall: String, customerid: Int! }
type Saved { _source_time: String! }
"""

RICKANDMORTY = """
type Query {
  characters(filter: FilterCharacter): Characters
  episodes(filter: FilterEpisode): Episodes
}
input FilterCharacter { name: String }
input FilterEpisode { episode: String }
type Characters { results: [Character] }
type Episodes { results: [Episode] }
type Location { name: String, type: String, dimension: String }
type Episode { name: String, air_date: String, episode: String, characters: [Character!] }
type Character {
  name: String, species: String, status: String, type: String, gender: String, origin: Location, location: Location,
  episode: [Episode], created: String
}
"""


@dataclass
class Store:
    """The fields requested from the server, and its messages."""

    url: str = ""
    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    messages: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last(self) -> tuple[str, dict[str, Any]]:
        return self.asked[-1]


PRODUCT = {"id": 1, "name": "Almonds", "sizing": "1 lb", "weight_in_gram": 454, "type": "nuts", "category": "raw"}
ORDER = {
    "id": 5,
    "timestamp": "2024-01-19T00:00:00Z",
    "total": {"price": 10.5, "discount": 1.0},
    "items": [{"quantity": 2, "unit_price": 5.25, "discount0": 0.5, "total": 10.5, "product": PRODUCT}],
}
CHARACTER = {"name": "Morty Smith", "species": "Human", "episode": [{"name": "Pilot"}]}
ANSWERS: dict[str, Any] = {
    "SpendingByCategory": [{"timeWeek": "2024-01-15T00:00:00Z", "category": "Travel", "spending": 12.5}],
    "SpendingByDay": [{"timeDay": "2024-01-15T00:00:00Z", "spending": 12.5}],
    "OrderAgain": [{"product": PRODUCT, "num": 3, "quantity": 7}],
    "SpendingByWeek": [{"week": "2024-01-15T00:00:00Z", "total_spend": 20.0, "total_savings": 2.0}],
    "Products": [PRODUCT],
    "characters": {"results": [CHARACTER]},
    "episodes": {"results": [{"name": "Total Rickall", "characters": [CHARACTER]}]},
}


def _schema(text: str, store: Store) -> Any:
    query, mutation = QueryType(), MutationType()

    def answering(name: str) -> Any:
        def resolve(_: Any, info: Any, **arguments: Any) -> Any:
            store.asked.append((name, arguments))
            return _answer(store, name, arguments)

        return resolve

    for name in _fields(text, "type Query"):
        query.set_field(name, answering(name))
    for name in _fields(text, "type Mutation"):
        mutation.set_field(name, answering(name))
    made = [query, *([mutation] if "type Mutation" in text else []), ScalarType("DateTime")]
    return make_executable_schema(text, *(made if "scalar" in text else made[:1]))


def _fields(text: str, head: str) -> list[str]:
    from graphql import ObjectTypeDefinitionNode, parse

    kind = head.removeprefix("type ")
    found = (part for part in parse(text).definitions if isinstance(part, ObjectTypeDefinitionNode))
    return [f.name.value for part in found if part.name.value == kind for f in part.fields or ()]


def _answer(store: Store, name: str, arguments: dict[str, Any]) -> Any:
    if name in ("AddChatMessage", "InternalSaveChatMessage"):
        store.messages.append(arguments["message"])
        return {"event_time": "now", "_source_time": "now"}
    if name in ("CustomerChatMessage", "InternalGetChatMessages"):
        own_messages = [m for m in store.messages if _customer(m) == arguments["customerid"]]
        # The newest first, since the tool reads a limited number of them.
        return own_messages[::-1][: arguments["limit"]]
    if name == "Transactions":
        raise ValueError("the ledger is closed")
    if name in ("Orders", "OrdersByTimeRange"):
        return [{**ORDER, "customerid": arguments["customerid"]}]
    return ANSWERS[name]


def _customer(message: dict[str, Any]) -> int:
    found: int = message["customerid"] if "customerid" in message else message["context"]["customerid"]
    return found


@contextmanager
def graphql_server(schema: str) -> Iterator[Store]:
    """Run a GraphQL server of this schema while the block runs."""
    store = Store()
    with listening(GraphQL(_schema(schema, store))) as url:
        store.url = url + "/"
        yield store
