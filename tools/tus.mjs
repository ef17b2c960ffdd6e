// Uploads a file with tus-js-client, and prints the address of the upload:
//
//	node tools/tus.mjs ENDPOINT TOKEN CARD FILE
//
// A test of the server runs it.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import * as tus from "tus-js-client";

const [endpoint, token, cardId, file] = process.argv.slice(2);
const upload = new tus.Upload(readFileSync(file), {
  endpoint,
  retryDelays: Array(10).fill(50),
  headers: { Authorization: `Bearer ${token}` },
  metadata: { cardId, filename: basename(file) },
  onSuccess: () => console.log(upload.url),
  onError: (error) => {
    console.error(error.message);
    process.exitCode = 1;
  },
});
upload.start();
