// Ask the AI SDK about messages: node messages.mjs PACKAGE, with a JSON list of tasks on standard input. A task has
// `messages` and one `name`: "validate" UI messages, validate "model" messages, or "convert" UI to model messages.
import { text } from "node:stream/consumers";

const ai = await import(process.argv[2]);

// Model messages are values in memory: links are URLs.
const inMemory = (value) => {
  if (Array.isArray(value)) return value.map(inMemory);
  if (value === null || typeof value !== "object") return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, inMemory(inner)]);
  const made = Object.fromEntries(entries);
  return made.type === "url" && typeof made.url === "string" ? { ...made, url: new URL(made.url) } : made;
};

const run = async ({ name, messages }) => {
  if (name === "validate") {
    if (ai.safeValidateUIMessages) {
      const result = await ai.safeValidateUIMessages({ messages });
      return { error: result.success ? null : result.error.message };
    }
    await ai.validateUIMessages({ messages });
    return { error: null };
  }
  if (name === "model") {
    const errors = inMemory(messages).map((message) => ai.modelMessageSchema.safeParse(message).error?.message ?? null);
    return { error: errors.find((error) => error !== null) ?? null };
  }
  return { error: null, messages: await ai.convertToModelMessages(messages) };
};

const results = [];
for (const task of JSON.parse(await text(process.stdin))) {
  try {
    results.push(await run(task));
  } catch (error) {
    results.push({ error: String(error?.message ?? error) });
  }
}
console.log(JSON.stringify(results));
