import { useChat } from "@ai-sdk/react";
import { DefaultChatTransport } from "ai";
import { createRoot } from "react-dom/client";

const transport = new DefaultChatTransport({ api: "/vercel/chat" });

function Chat() {
  const { messages, sendMessage } = useChat({ transport });
  const send = (form) => sendMessage({ text: form.get("text") });
  return (
    <form action={send}>
      {messages.map((message) => (
        <p key={message.id}>
          {message.role}: {message.parts.map((part) => part.text ?? (part.output && `[${part.output}] `))}
        </p>
      ))}
      <input name="text" />
    </form>
  );
}

createRoot(document.body).render(<Chat />);
