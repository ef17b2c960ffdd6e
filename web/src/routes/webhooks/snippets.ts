// Examples that verify deliveries with the Standard Webhooks libraries or the cardwall command.
export type Language = 'js' | 'python' | 'go' | 'shell'

export const languages: readonly { value: Language; label: string }[] = [
  { value: 'js', label: 'JavaScript' },
  { value: 'python', label: 'Python' },
  { value: 'go', label: 'Go' },
  { value: 'shell', label: 'Terminal' },
]

export const snippets: Record<Language, string> = {
  js: `// npm install standardwebhooks
import { createServer } from "node:http";
import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.CARDWALL_WEBHOOK_SECRET);

createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  try {
    const event = webhook.verify(Buffer.concat(chunks), request.headers);
    console.log(event.type, event.id, event.boardVersion);
    response.writeHead(204).end();
  } catch {
    response.writeHead(401).end();
  }
}).listen(9000, "127.0.0.1");`,
  python: `# pip install standardwebhooks flask
import os
from flask import Flask, request
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

app = Flask(__name__)
webhook = Webhook(os.environ["CARDWALL_WEBHOOK_SECRET"])

@app.post("/cardwall")
def receive():
    try:
        event = webhook.verify(request.get_data(), dict(request.headers))
    except (WebhookVerificationError, ValueError):
        return "", 401
    print(event["type"], event["id"], event["boardVersion"])
    return "", 204`,
  go: `// go get github.com/standard-webhooks/standard-webhooks/libraries
webhook, err := standardwebhooks.NewWebhook(os.Getenv("CARDWALL_WEBHOOK_SECRET"))
if err != nil {
	log.Fatal(err)
}
http.HandleFunc("POST /cardwall", func(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil || webhook.Verify(body, r.Header) != nil {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	fmt.Println(string(body)) // or put it into a queue
	w.WriteHeader(http.StatusNoContent)
})`,
  shell: `# Receive, verify and print deliveries on your own machine
CARDWALL_WEBHOOK_SECRET=whsec_… cardwall webhook listen`,
}
