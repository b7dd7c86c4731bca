/* fuzz_front - messages of front ends: lines, payloads by their schemas, base64; and the
 * runner's. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/describe.h"
#include "core/api/inside/inside_priv.h"
#include "core/api/request_line.h"
#include "core/api/schema.h"
#include "core/base/base64.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A refusal must have a message. */
static void check(const cJSON *schema, const cJSON *value)
{
	struct fault f = {0};

	if (schema_check("protocol.json", schema, value, &f) < 0 && (!f.code || !*f.message))
		abort();
	fault_done(&f);
}

static void take_line(const char *bytes, size_t len)
{
	AUTO_FREE char *line = xstrndup(bytes, len);
	AUTO_FREE char *strict = xstrndup(bytes, len);
	cJSON *message = request_line_parse(line, strlen(line));
	const cJSON *op;

	request_line_strict(strict);
	if (!message)
		return;
	check(schema_find("protocol.json", "$defs/envelope"), message);
	for (op = json_first(schema_find("protocol.json", "$defs/operations")); op; op = op->next) {
		const cJSON *payload = cJSON_GetObjectItemCaseSensitive(message, "payload");

		check(cJSON_GetObjectItem(op, "payload"), payload ? payload : message);
	}
	cJSON_Delete(message);
}

/* Encoded bytes must be decoded unchanged. */
static void recode(const char *bytes, size_t len)
{
	AUTO_BUF struct buf text = BUF_INIT;
	AUTO_FREE char *any = xstrndup(bytes, len);
	AUTO_FREE char *back = NULL;
	AUTO_FREE char *other = NULL;
	size_t n = 0;

	base64_encode(&text, bytes, len);
	back = base64_decode(text.data, &n);
	if (!back || n != len || memcmp(back, bytes, len) != 0)
		abort();
	other = base64_decode(any, &n);
	(void)other;
}

static void obey(const char *bytes, size_t len)
{
	AUTO_BUF struct buf copy = BUF_INIT;
	struct order o;
	struct err err = {0};

	buf_add(&copy, bytes, len);
	if (task_order_parse(&o, &(struct runner_head){.a = 7}, copy.data, copy.len, &err) == 0) {
		size_t n = strlen(o.label) + strlen(o.cwd);

		for (size_t i = 0; i < o.n_argv; i++)
			n += strlen(o.argv[i]);
		if (n > len)
			abort();
	} else if (!*err.text) {
		abort();
	}
	task_order_done(&o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *bytes = (const char *)data;

	take_line(bytes, size);
	recode(bytes, size);
	obey(bytes, size);
	return 0;
}
