// Run the tool loop of the AI SDK: node generate.mjs, with a JSON list of tasks on standard input.
// A task with a `url` runs streamText against a server, and returns the messages of the run. A task without one returns
// the body of the request that the SDK sends for `messages`.
import { text } from "node:stream/consumers";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, isStepCount, jsonSchema, readUIMessageStream, streamText, tool } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

const models = {
  "openai-chat": (settings, name) => createOpenAI(settings).chat(name),
  "openai-responses": (settings, name) => createOpenAI(settings).responses(name),
  "anthropic-messages": (settings, name) => createAnthropic(settings)(name),
  "google-generate-content": (settings, name) => createGoogleGenerativeAI(settings)(name),
};
const inputSchema = jsonSchema({ type: "object", properties: { city: { type: "string" } } });
const failing = () => {
  throw new Error("no such city");
};
const tools = {
  weather: tool({ inputSchema, execute: ({ city }) => ({ city, degrees: 18 }) }),
  report: tool({ inputSchema, execute: ({ city }) => `Sunny in ${city}.` }),
  fail: tool({ inputSchema, execute: failing }),
  book: tool({ inputSchema, needsApproval: true, execute: () => "booked" }),
};

const inMemory = (value) => {
  if (Array.isArray(value)) return value.map(inMemory);
  if (value === null || typeof value !== "object") return value;
  const made = Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, inMemory(inner)]));
  return made.type === "url" && typeof made.url === "string" ? { ...made, url: new URL(made.url) } : made;
};

const streamed = async ({ api, url, model, messages, options }) => {
  const chosen = models[api]({ baseURL: url, apiKey: "none" }, model);
  const result = streamText({ model: chosen, messages, tools, stopWhen: isStepCount(5), maxRetries: 0, providerOptions: options });
  let shown = null;
  for await (const message of readUIMessageStream({ stream: result.toUIMessageStream({ generateMessageId: () => "a1", sendSources: true }) })) {
    shown = message;
  }
  return { ui: shown, model: await result.responseMessages };
};

// The bytes of a link are its address. The tests use no network.
const download = async (requests) =>
  requests.map(({ url, isUrlSupportedByModel }) =>
    isUrlSupportedByModel ? null : { data: new TextEncoder().encode(String(url)), mediaType: undefined },
  );

// The tools whose items the SDK sends only if the request has them.
const hosted = {
  "openai-responses": ({ tools }) => ({
    shell: tools.shell({ environment: { type: "containerAuto" } }),
    apply_patch: tools.applyPatch({}),
    programmatic_tool_calling: tools.programmaticToolCalling(),
  }),
};

const sent = async ({ api, model, messages, options, has_tools }) => {
  let body = null;
  const fetch = async (_, init) => {
    body = JSON.parse(init.body);
    throw new Error("sent");
  };
  const chosen = models[api]({ apiKey: "none", fetch }, model);
  try {
    const allowSystemInMessages = true;
    await generateText({
      model: chosen,
      messages: inMemory(messages),
      tools: has_tools ? hosted[api](createOpenAI({ apiKey: "none" })) : undefined,
      maxRetries: 0,
      providerOptions: options,
      allowSystemInMessages,
      experimental_download: download,
    });
  } catch (error) {
    if (body === null) return { error: String(error?.message ?? error) };
  }
  return { body };
};

const results = [];
for (const task of JSON.parse(await text(process.stdin))) {
  results.push(await (task.url === undefined ? sent(task) : streamed(task)));
}
console.log(JSON.stringify(results));
