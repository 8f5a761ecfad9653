"""The blocks of an API alone, without a request or an answer: for other formats that keep them as guests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from contentmodel.engine.table.tables import Table

if TYPE_CHECKING:
    from contentmodel.content.base import AIContent
    from contentmodel.engine.context import DecodeContext, EncodeContext
    from contentmodel.engine.json import JsonArray
    from contentmodel.engine.losses.provenance import RowFinder


class BlockPorts:
    """The ports of an adapter for its blocks in other formats. An API whose blocks are no union overrides them."""

    table: Table
    block_union = "content block"
    """The name of the union of the blocks of an answer."""

    @property
    def block_rows(self) -> RowFinder:
        """The finder of the rows of the contents of blocks."""
        return self.table.unions[self.block_union]

    def decode_blocks(self, blocks: JsonArray, context: DecodeContext) -> list[AIContent]:
        """Decode blocks of an answer that another format keeps."""
        return self.table.unions[self.block_union].decode_list(blocks, context)

    def encode_blocks(self, contents: list[AIContent], context: EncodeContext) -> JsonArray:
        """Encode contents of this API as blocks of an answer, without the steps: the inverse of `decode_blocks`."""
        return self.table.unions[self.block_union].encode_list(contents, context)

    def block_groups(self, contents: list[AIContent]) -> list[list[AIContent]]:
        """Return the contents in groups, each of which is one block: by default, each content alone."""
        return [[content] for content in contents]
