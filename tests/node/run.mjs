// Run the agent at a URL with the client of AG-UI, which verifies the order of the events: node run.mjs URL.
import { HttpAgent } from "@ag-ui/client";

const agent = new HttpAgent({ url: `${process.argv[2]}/ag-ui`, threadId: "thread" });
agent.addMessage({ id: "m1", role: "user", content: "How is Oslo?" });
const types = [];
await agent.runAgent({}, { onEvent: ({ event }) => void types.push(event.type) });
agent.addMessage({ id: "m2", role: "user", content: "Book it." });
const interrupts = [];
await agent.runAgent({}, { onRunFinishedEvent: ({ event }) => void interrupts.push(...(event.outcome?.interrupts ?? [])) });
await agent.runAgent({ resume: interrupts.map(({ id }) => ({ interruptId: id, status: "resolved", payload: true })) });
console.log(JSON.stringify({ messages: agent.messages, types, interrupts }));
