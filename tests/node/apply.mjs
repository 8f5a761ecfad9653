// Verify the events of runs with the client of AG-UI, and print the messages and the state of each: node apply.mjs FILE.
import { readFileSync } from "node:fs";
import { AbstractAgent } from "@ag-ui/client";
import { from } from "rxjs";

class Recorded extends AbstractAgent {
  constructor(events) {
    super({ threadId: "t" });
    this.events = events;
  }

  run() {
    return from(this.events);
  }
}

console.warn = () => {};
const runs = [];
for (const events of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const agent = new Recorded(events);
  await agent.runAgent({ runId: "r" });
  runs.push({ messages: agent.messages, state: agent.state });
}
console.log(JSON.stringify(runs));
