// client - a client of cordon serve in TypeScript; its types are generated from core/api/protocol.json.
// SPDX-License-Identifier: MIT
import { spawn } from "child_process";
import { createInterface } from "readline";
import type { CordonSessionProtocolVersion1 as Message, Event, Request, Response } from "./protocol";

const [cordon, folder] = process.argv.slice(2);
let tests = 0, failed = 0;
function ok(good: boolean, name: string, ...words: unknown[]): void {
	tests++;
	failed += good ? 0 : 1;
	console.log(`${good ? "ok" : "not ok"} ${tests} - ${name}`);
	if (!good) console.log("# " + JSON.stringify(words));
}

const child = spawn(cordon, ["serve", "--log-level", "error"], { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map<string | number, (r: Response) => void>();
const events: Event[] = [];
let hello: Message | undefined;
createInterface({ input: child.stdout }).on("line", (line) => {
	const message = JSON.parse(line) as Message;
	if (message.type === "hello") hello = message;
	else if (message.type === "response") waiting.get((message as Response).request_id!)?.(message as Response);
	else events.push(message as Event);
});

type Unsent<R> = R extends Request ? Omit<R, "request_id"> : never;
let last = 0;
function call(request: Unsent<Request>): Promise<Response> {
	const request_id = ++last;
	child.stdin.write(JSON.stringify({ ...request, request_id }) + "\n");
	return new Promise((done) => waiting.set(request_id, done));
}

async function main(): Promise<void> {
	const start = await call({ type: "session.start", payload: { working_directories: [{ path: folder, label: "project" }], audit: false } });
	ok(start.status === "ok" && hello !== undefined, "a session", start);
	const writes = await Promise.all([...Array(20).keys()].map((i) => call({ type: "fs.write", payload: { path: `f${i}`, content: "x" } })));
	ok(writes.every((r) => r.status === "ok"), "20 writes at once", writes);
	const run = await call({ type: "agent.execute", payload: { command: "rm f1; exit 3" } });
	ok(run.status === "ok" && run.payload!["exit_code"] === 3, "a command", run);
	const step = events.find((e) => e.type === "event.step_completed" && e.payload.command === "rm f1; exit 3");
	ok(step?.type === "event.step_completed" && step.payload.paths === 1, "its step comes before the response", events.length);
	const undone = await call({ type: "undo.rollback", payload: { steps: 1 } });
	ok(undone.status === "ok", "undo", undone);
	const none = await call({ type: "fs.read", payload: { path: "nowhere" } });
	ok(none.status === "error" && none.error!.name === "fs.not-found", "an error", none);
	// @ts-expect-error an operation that is not there does not compile,
	const unknown = await call({ type: "session.statu" });
	// @ts-expect-error nor does a payload without its members
	const empty = await call({ type: "fs.read", payload: {} });
	ok([unknown, empty].every((r) => r.status === "error"), "and are refused", unknown, empty);
	child.stdin.end();
	ok((await new Promise((done) => child.on("exit", done))) === 0, "the end of input is the end");
	console.log(`1..${tests}`);
	process.exit(failed ? 1 : 0);
}
main();
