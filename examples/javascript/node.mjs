// Requests to a node that `fbo-node serve --http` runs.

import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** A refused request: the node's reason, and the status of HTTP. */
export class Refused extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

/** Statuses of a node that is starting, ending or too busy: the request is repeated. */
const temporary = new Set([429, 500, 503]);

export class Node {
  /** patience is the number of seconds for which a request is repeated while the node does not answer. */
  constructor({ url, token, patience = 300 }) {
    Object.assign(this, { url, token, patience });
  }

  /**
   * Sends an object and returns the object of the answer. A request is repeated with the same key, so that the node
   * carries it out once even if an answer was lost. Throws Refused, or the error of the connection after patience.
   */
  async post(path, body) {
    const options = {
      method: "POST",
      headers: { Authorization: `Bearer ${this.token}`, "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
      body: JSON.stringify(body),
    };
    const end = Date.now() + 1000 * this.patience;
    for (let pause = 250; ; pause = Math.min(2 * pause, 5000)) {
      let problem;
      try {
        const response = await fetch(this.url + path, { ...options, signal: AbortSignal.timeout(90_000) });
        if (response.ok) {
          return await response.json();
        }
        const text = await response.text();
        problem = new Refused(response.status, reasonOf(text));
      } catch (error) {
        problem = new Error(`${this.url}${path}: ${error.cause?.message ?? error.message}`);
      }
      if ((problem instanceof Refused && !temporary.has(problem.status)) || Date.now() > end) {
        throw problem;
      }
      console.error(`${problem.message}; the request is repeated`);
      await sleep(pause);
    }
  }
}

/** Returns the detail of a problem in JSON, or the text itself. */
function reasonOf(text) {
  try {
    return JSON.parse(text).detail ?? text;
  } catch {
    return text;
  }
}
