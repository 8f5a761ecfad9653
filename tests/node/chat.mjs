// Talk to the server with the Chat of an AI SDK: node chat.mjs PACKAGE URL VERSION. Prints its messages and errors.
const [name, url, version] = process.argv.slice(2);
const ai = await import(name);
const { AbstractChat, DefaultChatTransport, lastAssistantMessageIsCompleteWithApprovalResponses } = ai;

class State {
  messages = [];
  status = "ready";
  error = undefined;
  pushMessage = (message) => (this.messages = [...this.messages, message]);
  popMessage = () => (this.messages = this.messages.slice(0, -1));
  replaceMessage = (index, message) => (this.messages = this.messages.toSpliced(index, 1, structuredClone(message)));
  snapshot = (value) => structuredClone(value);
}

class Chat extends AbstractChat {
  constructor(options) {
    super({ ...options, state: new State() });
  }
}

const errors = [];
const chat = new Chat({
  id: `chat-${version}`,
  transport: new DefaultChatTransport({ api: `${url}/vercel/chat?version=${version}` }),
  onError: (error) => errors.push(String(error)),
  sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses,
});
await chat.sendMessage({ text: "How is Oslo?" });
await chat.sendMessage({ text: "Book it." });
const asked = chat.messages.at(-1).parts.find((part) => part.approval);
if (asked && chat.addToolApprovalResponse) {
  await chat.addToolApprovalResponse({ id: asked.approval.id, approved: true });
  const isDone = () => chat.status === "ready" && chat.messages.at(-1).parts.at(-1).text === "Done.";
  while (!isDone() && !errors.length) await new Promise((r) => setTimeout(r, 20));
}
const stored = await (await fetch(`${url}/vercel/chat/chat-${version}?version=${version}`)).json();
await ai.validateUIMessages({ messages: stored });
console.log(JSON.stringify({ messages: chat.messages, errors, stored }));
