/* qmp - what QEMU's machine protocol says, and commands to it. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/qemu/qmp.h"

#include <cjson/cJSON.h>
#include <errno.h>

static void copy(char *to, size_t size, const cJSON *from)
{
	const char *s = cJSON_GetStringValue(from);

	snprintf(to, size, "%s", s ? s : "");
}

int qmp_parse(struct qmp_message *ret, const char *line, size_t len)
{
	cJSON *o = len <= QMP_LINE ? cJSON_ParseWithLength(line, len) : NULL;
	const cJSON *part;

	*ret = (struct qmp_message){.kind = QMP_OTHER};
	if (!cJSON_IsObject(o)) {
		cJSON_Delete(o);
		return -EBADMSG;
	}
	if (cJSON_GetObjectItemCaseSensitive(o, "QMP")) {
		ret->kind = QMP_GREETING;
	} else if ((part = cJSON_GetObjectItemCaseSensitive(o, "event"))) {
		ret->kind = QMP_EVENT;
		copy(ret->name, sizeof(ret->name), part);
	} else if ((part = cJSON_GetObjectItemCaseSensitive(o, "error"))) {
		ret->kind = QMP_ERROR;
		copy(ret->name, sizeof(ret->name), cJSON_GetObjectItemCaseSensitive(part, "class"));
		copy(ret->text, sizeof(ret->text), cJSON_GetObjectItemCaseSensitive(part, "desc"));
	} else if ((part = cJSON_GetObjectItemCaseSensitive(o, "return"))) {
		ret->kind = QMP_RETURN;
		copy(ret->text, sizeof(ret->text),
		     cJSON_GetObjectItemCaseSensitive(part, "status"));
	}
	cJSON_Delete(o);
	return 0;
}

void qmp_command(struct buf *out, const char *name)
{
	buf_fmt(out, "{\"execute\":\"%s\"}\n", name);
}
