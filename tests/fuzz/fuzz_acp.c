/* fuzz_acp - no bytes from an agent become a request for its editor's tools. */
/* SPDX-License-Identifier: MIT */
#include <cjson/cJSON.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/acp/acp.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void on_turn(void *data, const char *prompt)
{
	(void)data, (void)prompt;
}

static void on_permission(void *data, bool asks)
{
	(void)data, (void)asks;
}

static void on_refused(void *data, const char *words)
{
	(void)data;
	if (!*words)
		abort();
}

static enum acp_verdict on_asks(void *data, uint64_t id, enum acp_act act, const char *what)
{
	(void)data, (void)act;
	if (!*what)
		abort();
	return id % 3 ? ACP_HOLD : ACP_DENY;
}

static void on_withdrawn(void *data, uint64_t id)
{
	(void)data, (void)id;
}

#define ENDS "\r\n\v\f\x1c\x1d\x1e"

/* Parses text like an editor that ends lines at any of these characters. */
static void look_at(char *text)
{
	for (char *line = strtok(text, ENDS); line; line = strtok(NULL, ENDS)) {
		cJSON *o = cJSON_Parse(line);
		const cJSON *one;

		for (one = o ? o->child : NULL; one; one = one->next) {
			const char *v = cJSON_GetStringValue(one);

			if (v && one->string && strcmp(one->string, "method") == 0 &&
			    (strncmp(v, "fs/", 3) == 0 || strncmp(v, "terminal/", 9) == 0))
				abort();
		}
		cJSON_Delete(o);
	}
}

/* The first byte gives the size of pieces, and whether the editor has sent anything. */
static void run(const char *bytes, size_t len, enum acp_tools tools)
{
	static const struct acp_listener on = {.turn = on_turn,
					       .permission = on_permission,
					       .refused = on_refused,
					       .asks = on_asks,
					       .withdrawn = on_withdrawn};
	static const char hello[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{}}\n";
	struct acp *a = acp_new(tools, &on, NULL);
	AUTO_BUF struct buf out = BUF_INIT;
	AUTO_BUF struct buf back = BUF_INIT;
	AUTO_BUF struct buf in = BUF_INIT;
	size_t piece = len ? (unsigned char)bytes[0] / 2 + 1u : 1;

	if (len && bytes[0] & 1)
		acp_from_editor(a, hello, sizeof(hello) - 1, false, &in, &out);
	for (size_t at = 1; at < len; at += piece) {
		size_t n = MIN(piece, len - at);

		acp_from_agent(a, bytes + at, n, false, &out, &back);
	}
	acp_from_agent(a, "", 0, true, &out, &back);
	if (!(len && bytes[0] & 1)) {
		if (tools != ACP_TOOLS_ON)
			look_at(out.data); /* the editor may still send */
		buf_clear(&out);
	}
	acp_from_editor(a, "", 0, true, &in, &out);
	if (tools == ACP_TOOLS_ON && len && bytes[0] & 1 &&
	    (out.len != len - 1 || memcmp(out.data, bytes + 1, len - 1) != 0))
		abort();
	if (tools != ACP_TOOLS_ON && len && bytes[0] & 1)
		look_at(out.data);
	if (tools == ACP_TOOLS_ASK)
		for (uint64_t id = 0; id < 100; id++)
			acp_answer(a, id, id & 1, "no", &in, &back);
	acp_free(a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	run((const char *)data, size, ACP_TOOLS_OFF);
	run((const char *)data, size, ACP_TOOLS_ASK);
	run((const char *)data, size, ACP_TOOLS_ON);
	return 0;
}
