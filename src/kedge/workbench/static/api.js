// Talking to the server. Every refusal becomes an Error with the server's own sentence.

async function post(path, body, signal) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal,
  });
  if (!response.ok) throw await refusal(response);
  return response;
}

function problem({ kind, message }) {
  return Object.assign(new Error(message), { kind });
}

async function refusal(response) {
  try {
    return problem((await response.json()).error);
  } catch {
    return new Error(`The server answered ${response.status}.`);
  }
}

export async function model() {
  const response = await fetch("/api/model");
  if (!response.ok) throw await refusal(response);
  return response.json();
}

export async function precision(body, signal) {
  return (await post("/api/precision", body, signal)).json();
}

export async function predict(body, signal) {
  return (await post("/api/predict", body, signal)).json();
}

export async function flip(body, signal) {
  return (await post("/api/flip", body, signal)).json();
}

export async function page(body) {
  return (await post("/api/explain?as=html", body)).text();
}

// An explanation and what is said about it, with its progress on the way; aborting the signal cancels the work on the server.
export async function explain(body, signal, onProgress) {
  const response = await post("/api/explain?as=stream", body, signal);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += value ?? "";
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const message = JSON.parse(line);
      if (message.event === "result") return message;
      if (message.event === "error") throw problem(message.error);
      onProgress(message);
    }
    if (done) throw new Error("The server closed the connection before it had an answer.");
  }
}
