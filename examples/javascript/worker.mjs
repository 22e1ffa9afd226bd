// Evaluates trials of a node: node worker.mjs EVALUATIONS
//
// FBO_URL is the address of the node, such as http://127.0.0.1:7070, and FBO_TOKEN the file with its token. FBO_CLIENT is
// the name of this worker (default: javascript); a worker that restarts under its name gets its trial again.

import { readFile } from "node:fs/promises";
import { train } from "./network.mjs";
import { Node, Refused } from "./node.mjs";

const { FBO_URL: url, FBO_TOKEN: tokenFile, FBO_CLIENT: client = "javascript" } = process.env;
const evaluations = Number(process.argv[2]);
if (!url || !tokenFile || !(evaluations >= 1)) {
  console.error("usage: FBO_URL=http://… FBO_TOKEN=FILE node worker.mjs EVALUATIONS");
  process.exit(2);
}

const node = new Node({ url, token: (await readFile(tokenFile, "utf8")).trim() });
const text = await readFile(new URL("task.yaml", import.meta.url), "utf8");
const task = await node.post("/v1/tasks", { text }); // joins it, unless the node has it already

/** Reports a trial. Another client may have reported it after the end of a lease; its outcome then counts. */
async function report(trial, action, body) {
  try {
    await node.post(`/v1/tasks/${task.id}/trials/${trial.id}/${action}`, body);
  } catch (error) {
    if (!(error instanceof Refused && error.status === 409)) {
      throw error;
    }
    console.error(`trial ${trial.id}: ${error.message}`);
  }
}

for (let evaluated = 0; evaluated < evaluations; ) {
  const { trials } = await node.post(`/v1/tasks/${task.id}/ask`, { client, wait_seconds: 15 }); // none while the node waits
  for (const trial of trials) {
    const started = performance.now();
    let result;
    try {
      result = train(trial.parameters);
    } catch (error) {
      console.log(`trial ${trial.id} failed: ${error.message}`);
      await report(trial, "fail", { client, reason: error.message });
    }
    if (result) {
      const seconds = (performance.now() - started) / 1000;
      console.log(`trial ${trial.id}: loss ${result.loss.toFixed(4)}, accuracy ${result.accuracy}`);
      await report(trial, "tell", { value: result.loss, metrics: { accuracy: result.accuracy }, cost: seconds });
    }
    evaluated++;
  }
}
