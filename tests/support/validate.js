// validate - judges recorded messages with ajv: cordon's by its own schemas, MCP's by each revision's.
// SPDX-License-Identifier: MIT
//
// usage: node validate.js --schemas BUNDLE DIR    write DIR/mcp-REVISION.json, out of the conformance suite
//        node validate.js DIR FILE                judge each line of FILE:
//           {"document": FILE, "pointer": "/...", "value": ...}
//           {"schema": {...}, "value": ...}
//           {"revision": "2025-11-25", "method": of the request or null, "value": message}
"use strict";
const fs = require("fs");
const path = require("path");
const vm = require("vm");

// ---- the published schemas ------------------------------------------------------------------------

// Returns the end of the object that begins at text[at], which is a literal of plain data.
function literal(text, at) {
	let depth = 0;
	for (let i = at; i < text.length; i++) {
		const c = text[i];
		if (c === '"' || c === "'" || c === "`") {
			for (i++; text[i] !== c; i++)
				if (text[i] === "\\") i++;
		} else if (c === "{") depth++;
		else if (c === "}" && --depth === 0) return text.slice(at, i + 1);
	}
	throw new Error("no end");
}

function extract(bundle, dir) {
	const text = fs.readFileSync(bundle, "utf8");
	const list = /\{"2025-03-26":(\w+),"2025-06-18":(\w+),"2025-11-25":(\w+),\[\w+\]:(\w+)\}/.exec(text);
	["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"].forEach((revision, i) => {
		const at = text.indexOf(list[i + 1] + "={$schema:");
		const schema = vm.runInNewContext("(" + literal(text, text.indexOf("{", at)) + ")", {});
		fs.writeFileSync(`${dir}/mcp-${revision}.json`, JSON.stringify(schema));
	});
}

// ---- validators -----------------------------------------------------------------------------------

function validators(dir) {
	const load = (name) => require(path.resolve(dir, "node_modules", name));
	const cache = new Map();
	const make = (old) => {
		const ajv = new (load(old ? "ajv" : "ajv/dist/2020").default)({ strict: false, allErrors: true });
		load("ajv-formats").default(ajv);
		ajv.addFormat("byte", true);
		return ajv;
	};
	const plain = make(false);
	const once = (key, fn) => {
		if (!cache.has(key)) cache.set(key, fn());
		return cache.get(key);
	};
	return {
		inline: (schema) => once(JSON.stringify(schema), () => plain.compile(schema)),
		document: (file, pointer) =>
			once(file + "#" + pointer, () => {
				once(file, () => plain.addSchema({ ...JSON.parse(fs.readFileSync(file)), $id: undefined }, file));
				return plain.compile({ $ref: file + "#" + pointer });
			}),
		revision: (name) =>
			once("revision " + name, () => {
				const file = `${dir}/mcp-${name}.json`;
				if (!fs.existsSync(file)) return null;
				const schema = JSON.parse(fs.readFileSync(file));
				const key = schema.$defs ? "$defs" : "definitions";
				const ajv = make(key === "definitions");
				ajv.addSchema(schema, "mcp");
				const byMethod = {};
				for (const [def, body] of Object.entries(schema[key]))
					if (body.properties?.method?.const) byMethod[body.properties.method.const] = def;
				return {
					has: (def) => def in schema[key],
					byMethod,
					of: (def) => once(name + " " + def, () => ajv.compile({ $ref: `mcp#/${key}/${def}` })),
				};
			}),
	};
}

// ---- messages of MCP ------------------------------------------------------------------------------

// Pairs of a definition and the value that must match it.
function parts(rev, method, message) {
	if (Array.isArray(message)) return [[rev.has("JSONRPCBatchResponse") ? "JSONRPCBatchResponse" : "JSONRPCMessage", message]];
	const error = rev.has("JSONRPCErrorResponse") ? "JSONRPCErrorResponse" : "JSONRPCError";
	const result = rev.has("JSONRPCResultResponse") ? "JSONRPCResultResponse" : "JSONRPCResponse";
	if ("error" in message) {
		const special = { "-32022": "UnsupportedProtocolVersionError", "-32021": "MissingRequiredClientCapabilityError" };
		const def = special[message.error.code];
		return [[error, message], ...(def && rev.has(def) ? [[def, message]] : [])];
	}
	if ("method" in message) return [[rev.byMethod[message.method] || "?" + message.method, message]];
	const request = rev.byMethod[method];
	let def = request ? request.replace(/Request$/, "Result") : "Result";
	if (message.result?.resultType === "input_required") def = "InputRequiredResult";
	return [[result, message], [rev.has(def) ? def : "Result", message.result]];
}

function judge(dir, file) {
	const v = validators(dir);
	const bad = [], seen = {};
	for (const line of fs.readFileSync(file, "utf8").split("\n")) {
		if (!line) continue;
		const m = JSON.parse(line);
		let list;
		if (m.revision) {
			const rev = v.revision(m.revision);
			seen[m.revision] = (seen[m.revision] || 0) + (rev ? 1 : 0);
			list = rev ? parts(rev, m.method, m.value).map(([def, value]) => [rev.has(def) ? rev.of(def) : null, value, def]) : [];
		} else {
			seen.cordon = (seen.cordon || 0) + 1;
			list = [[m.schema ? v.inline(m.schema) : v.document(m.document, m.pointer), m.value, m.pointer || "schema"]];
		}
		for (const [check, value, name] of list)
			if (!check) bad.push(`${m.revision}: nothing of that name: ${name}`);
			else if (!check(value))
				bad.push(`${m.revision || ""} ${name}: ${check.errors.slice(0, 3).map((e) => e.instancePath + " " + e.message).join("; ")}: ${line.slice(0, 300)}`);
	}
	console.log(JSON.stringify({ seen, bad: bad.slice(0, 40), n_bad: bad.length }));
}

const args = process.argv.slice(2);
if (args[0] === "--schemas") extract(args[1], args[2]);
else judge(args[0], args[1]);
