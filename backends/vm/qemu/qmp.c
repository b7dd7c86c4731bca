/* qmp - parses QEMU's machine protocol, and builds commands. */
/* SPDX-License-Identifier: MIT */
#include "backends/vm/qemu/qmp.h"
#include "core/base/json.h"

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
	if (json_get(o, "QMP")) {
		ret->kind = QMP_GREETING;
	} else if ((part = json_get(o, "event"))) {
		ret->kind = QMP_EVENT;
		copy(ret->name, sizeof(ret->name), part);
	} else if ((part = json_get(o, "error"))) {
		ret->kind = QMP_ERROR;
		copy(ret->name, sizeof(ret->name), json_get(part, "class"));
		copy(ret->text, sizeof(ret->text), json_get(part, "desc"));
	} else if ((part = json_get(o, "return"))) {
		ret->kind = QMP_RETURN;
		copy(ret->text, sizeof(ret->text), json_get(part, "status"));
	}
	cJSON_Delete(o);
	return 0;
}

void qmp_command(struct buf *out, const char *name)
{
	buf_fmt(out, "{\"execute\":\"%s\"}\n", name);
}
