/* fault - errors by number and name. */
/* SPDX-License-Identifier: MIT */
#include "core/api/fault.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdarg.h>

const char *fault_name(enum fault_code code)
{
	switch (code) {
#define X(id, number, name)                                                                        \
	case FAULT_##id:                                                                           \
		return name;
		FAULTS(X)
#undef X
	case FAULT_NONE:
		break;
	}
	return "internal";
}

int fault_say(struct fault *f, enum fault_code code, const char *fmt, ...)
{
	va_list ap;

	f->code = code;
	va_start(ap, fmt);
	vsnprintf(f->message, sizeof(f->message), fmt, ap);
	va_end(ap);
	return -1;
}

int fault_err(struct fault *f, enum fault_code code, const struct err *err)
{
	return fault_say(f, code, "%s", err->text);
}

int fault_file(struct fault *f, int error, const char *words)
{
	enum fault_code code = FAULT_FS_FAILED;

	switch (error) {
	case ENOENT:
		code = FAULT_FS_NOT_FOUND;
		break;
	case EACCES:
	case EPERM:
	case EROFS:
		code = FAULT_FS_DENIED;
		break;
	case EISDIR:
	case ENOTDIR:
	case EINVAL:
	case ELOOP:
		code = FAULT_FS_KIND;
		break;
	case EEXIST:
		code = FAULT_FS_EXISTS;
		break;
	default:
		break;
	}
	return fault_say(f, code, "%s", words);
}

void fault_done(struct fault *f)
{
	cJSON_Delete(f->data);
	*f = (struct fault){0};
}
