// Read UI message streams with a version of the AI SDK, and print the message of each: node read.mjs PACKAGE FILE.
import { readFileSync } from "node:fs";

const ai = await import(process.argv[2]);
const messages = [];
for (const chunks of JSON.parse(readFileSync(process.argv[3], "utf8"))) {
  let last = null;
  for await (const message of ai.readUIMessageStream({ stream: ReadableStream.from(chunks), onError: () => {} })) last = message;
  messages.push(last);
}
console.log(JSON.stringify(messages));
