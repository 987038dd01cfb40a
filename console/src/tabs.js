// Tabs of one console exchange messages with each other only: a new tab asks the others for a key.
// Nothing is stored, so the key is gone with the last tab.

const PATIENCE = 250; // milliseconds that a new tab waits for an answer

const channel = new BroadcastChannel(`backroom ${new URL(".", document.baseURI).pathname}`);

// `held()` is this tab's key; `given(key)` one that another tab signed in with, or an answer, however
// late; `ended()`: signed out.
export function listen({ held, given, ended }) {
  channel.addEventListener("message", ({ data }) => {
    const key = held();
    if (data.kind === "ask" && key && !data.refused.includes(key))
      channel.postMessage({ kind: "answer", key });
    if (data.kind === "begun" || data.kind === "answer") given(data.key);
    if (data.kind === "ended") ended();
  });
}

// A key of another tab that is not in `refused`, or null.
export function ask(refused) {
  return new Promise((answered) => {
    const heard = ({ data }) => {
      if (data.kind !== "answer" || refused.includes(data.key)) return;
      finish(data.key);
    };
    const finish = (key) => {
      clearTimeout(timer);
      channel.removeEventListener("message", heard);
      answered(key);
    };
    const timer = setTimeout(() => finish(null), PATIENCE);
    channel.addEventListener("message", heard);
    channel.postMessage({ kind: "ask", refused });
  });
}

export const begun = (key) => channel.postMessage({ kind: "begun", key });
export const ended = () => channel.postMessage({ kind: "ended" });
