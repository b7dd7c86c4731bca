/* fuzz_api - lines of the session's socket: messages of a client, and texts sent to it. */
/* SPDX-License-Identifier: MIT */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/api/socket/api_priv.h"
#include "core/audit/reader.h"
#include "core/base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A command is refused with a message, or is one that has a meaning. */
static void take(const char *line, size_t len)
{
	struct command_in c;
	struct err err = {0};

	if (message_parse(line, len, &c, &err) < 0) {
		if (!*err.text)
			abort();
		return;
	}
	if (c.does == COMMAND_ANSWER &&
	    (c.id < 1 || c.answer.scope > SCOPE_ORG || c.answer.extent > EXTENT_TREE))
		abort();
}

/* Any bytes in a JSON string are read back unchanged, without control characters in the string. */
static void tell(const char *bytes, size_t len)
{
	AUTO_BUF struct buf line = BUF_INIT;
	struct audit_record record;
	const char *got;
	size_t got_len = 0;

	audit_record_init(&record);
	buf_str(&line, "{\"path\":");
	json_quote(&line, bytes, len);
	buf_str(&line, "}");
	for (size_t i = 0; i < line.len; i++)
		if ((unsigned char)line.data[i] < ' ' || line.data[i] == 0x7f)
			abort();
	if (audit_record_parse(&record, line.data, line.len) < 0)
		abort();
	got = audit_record_get(&record, "path", &got_len);
	if (!got || got_len != len || memcmp(got, bytes, len) != 0)
		abort();
	audit_record_done(&record);
}

static void read_any(const char *line, size_t len)
{
	struct audit_record record;

	audit_record_init(&record);
	if (audit_record_parse(&record, line, len) == 0)
		(void)audit_record_get(&record, "id", NULL);
	audit_record_done(&record);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_FREE char *text = xstrndup((const char *)data, size);
	size_t len = strlen(text);

	take(text, len);
	read_any(text, len);
	tell(text, len);
	return 0;
}
