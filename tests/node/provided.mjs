// Let the AI SDK read an answer with hosted tools: node provided.mjs, with a JSON list of tasks on standard input.
// A task has the `api`, the `answer`, and the `stream` of the same answer. The result has the model messages of the
// answer, and the UI message of the stream.
import { text } from "node:stream/consumers";

import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, readUIMessageStream, streamText } from "ai";

globalThis.AI_SDK_LOG_WARNINGS = false;

const apis = {
  "openai-responses": (settings) => {
    const openai = createOpenAI(settings);
    const tools = {
      web_search: openai.tools.webSearch({}),
      file_search: openai.tools.fileSearch({ vectorStoreIds: ["vs_1"] }),
      code_interpreter: openai.tools.codeInterpreter({}),
      image_generation: openai.tools.imageGeneration({}),
      mcp: openai.tools.mcp({ serverLabel: "srv", serverUrl: "https://a.example" }),
      tool_search: openai.tools.toolSearch({}),
      shell: openai.tools.shell({ environment: { type: "containerAuto" } }),
      apply_patch: openai.tools.applyPatch({}),
      programmatic_tool_calling: openai.tools.programmaticToolCalling(),
    };
    return { model: openai.responses("gpt-5.2"), tools };
  },
  "google-generate-content": (settings) => {
    const google = createGoogleGenerativeAI(settings);
    const tools = { code_execution: google.tools.codeExecution({}), google_search: google.tools.googleSearch({}) };
    return { model: google("gemini-3-pro-preview"), tools };
  },
  "anthropic-messages": (settings) => {
    const anthropic = createAnthropic(settings);
    const tools = {
      web_search: anthropic.tools.webSearch_20250305({}),
      web_fetch: anthropic.tools.webFetch_20250910({}),
      code_execution: anthropic.tools.codeExecution_20250825({}),
      tool_search_tool_bm25: anthropic.tools.toolSearchBm25_20251119({}),
    };
    return { model: anthropic("claude-opus-4-8"), tools };
  },
};

const settingsOf = (body, type) => ({
  apiKey: "none",
  fetch: async () => new Response(body, { headers: { "content-type": type } }),
});

const results = [];
for (const { api, answer, stream } of JSON.parse(await text(process.stdin))) {
  const options = { prompt: "Look.", maxRetries: 0 };
  const whole = apis[api](settingsOf(JSON.stringify(answer), "application/json"));
  const generated = await generateText({ ...options, ...whole });
  const pieces = apis[api](settingsOf(stream, "text/event-stream"));
  const streamed = streamText({ ...options, ...pieces, onError: () => {} });
  let shown = null;
  for await (const message of readUIMessageStream({ stream: streamed.toUIMessageStream({ sendSources: true }) })) {
    shown = message;
  }
  results.push({ model: generated.response.messages, ui: shown });
}
console.log(JSON.stringify(results));
