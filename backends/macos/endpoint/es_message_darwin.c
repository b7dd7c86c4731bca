/* es_message_darwin - converts messages of libEndpointSecurity to struct es_message. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_message.h"

#include <bsm/libbsm.h>
#include <fcntl.h>
#include <mach/mach_time.h>
#include <string.h>

#include "backends/macos/endpoint/es_events.h"
#include "core/base/buf.h"
#include "core/base/util.h"

#define FORK_VERSION 4 /* of messages with global_seq_num, start and parent */

/* ---- messages without strings ---------------------------------------------------------------- */

struct es_id es_id_of_token(audit_token_t token)
{
	return (struct es_id){.pid = audit_token_to_pid(token),
			      .version = (uint32_t)audit_token_to_pidversion(token)};
}

static struct es_id id_of(const es_message_t *from, const es_process_t *process)
{
	struct es_id id = es_id_of_token(process->audit_token);

	if (from->version >= FORK_VERSION)
		id.started_us = es_start_of((uint64_t)process->start_time.tv_sec,
					    (uint64_t)process->start_time.tv_usec);
	return id;
}

int64_t es_us_of(uint64_t mach)
{
	static mach_timebase_info_data_t base;

	if (!base.denom)
		mach_timebase_info(&base);
	return (int64_t)(mach / 1000 * base.numer / base.denom);
}

static bool kind_of(es_event_type_t event, enum es_kind *ret)
{
	static const struct {
		es_event_type_t event;
		enum es_kind kind;
	} rows[] = {
#define ROW(name, kind, since) {ES_EVENT_TYPE_##name, kind},
		ES_EVENTS(ROW)
#undef ROW
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].event == event) {
			*ret = rows[i].kind;
			return true;
		}
	return false;
}

/* Returns the process that the message is about, or NULL if it names none. */
static const es_process_t *target_of(const es_message_t *from)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_SIGNAL:
		return from->event.signal.target;
	case ES_EVENT_TYPE_AUTH_PROC_SUSPEND_RESUME:
		return from->event.proc_suspend_resume.target;
	case ES_EVENT_TYPE_AUTH_GET_TASK:
		return from->event.get_task.target;
	case ES_EVENT_TYPE_AUTH_GET_TASK_READ:
		return from->event.get_task_read.target;
	case ES_EVENT_TYPE_NOTIFY_FORK:
		return from->event.fork.child;
	default:
		return NULL;
	}
}

bool es_message_head(const es_message_t *from, struct es_message *ret)
{
	const es_process_t *target = target_of(from);

	*ret = (struct es_message){.process = id_of(from, from->process)};
	if (!kind_of(from->event_type, &ret->kind))
		return false;
	if (target)
		ret->target = id_of(from, target);
	if (from->event_type == ES_EVENT_TYPE_AUTH_SIGNAL)
		ret->signal = from->event.signal.sig;
	if (from->version >= FORK_VERSION) {
		ret->seq = from->global_seq_num;
		ret->parent = es_id_of_token(from->process->parent_audit_token);
	}
	if (from->action_type == ES_ACTION_TYPE_AUTH) {
		ret->handle = (uint64_t)(uintptr_t)from;
		ret->deadline_us = es_us_of(from->deadline);
	}
	return true;
}

/* ---- strings of messages --------------------------------------------------------------------- */

static char *copy(es_string_token_t text)
{
	return xstrndup(text.data, text.length);
}

static char *file_path(const es_file_t *file, struct es_reading *r)
{
	r->m.cut |= file->path_truncated;
	return copy(file->path);
}

/* Returns the file's path, and notes its identity: a later look-up must find the same file. */
static char *found_path(const es_file_t *file, struct es_reading *r)
{
	r->m.dev = (uint64_t)file->stat.st_dev;
	r->m.ino = file->stat.st_ino;
	r->m.mode = file->stat.st_mode;
	return file_path(file, r);
}

static char *new_path(const es_file_t *dir, es_string_token_t name, struct es_reading *r)
{
	AUTO_FREE char *above = file_path(dir, r);

	return xasprintf("%s/%.*s", strcmp(above, "/") == 0 ? "" : above, (int)name.length,
			 name.data);
}

/* Notes the identity of the second path's file. */
static void note_second(const es_file_t *file, struct es_reading *r)
{
	r->m.dev2 = (uint64_t)file->stat.st_dev;
	r->m.ino2 = file->stat.st_ino;
	r->m.mode2 = file->stat.st_mode;
}

static void read_rename(const es_event_rename_t *e, struct es_reading *r)
{
	r->path = found_path(e->source, r);
	if (e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE) {
		note_second(e->destination.existing_file, r);
		r->path2 = file_path(e->destination.existing_file, r);
	} else {
		r->path2 =
			new_path(e->destination.new_path.dir, e->destination.new_path.filename, r);
	}
}

static void read_create(const es_event_create_t *e, struct es_reading *r)
{
	bool exists = e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE;

	r->m.dir = !exists && S_ISDIR(e->destination.new_path.mode);
	r->m.mode = exists ? 0 : (uint32_t)e->destination.new_path.mode;
	r->path =
		exists ? file_path(e->destination.existing_file, r)
		       : new_path(e->destination.new_path.dir, e->destination.new_path.filename, r);
}

static void read_exec(const es_event_exec_t *e, struct es_reading *r)
{
	uint32_t n = es_exec_arg_count(e);

	r->path = file_path(e->target->executable, r);
	for (uint32_t i = 0; i < n && r->argv.len <= ES_ARGV_MAX; i++) {
		es_string_token_t arg = es_exec_arg(e, i);

		buf_add(&r->argv, arg.data, MIN(arg.length, (size_t)ES_ARGV_MAX));
		buf_ch(&r->argv, '\0');
	}
	r->m.argv = r->argv.data;
	r->m.argv_len = r->argv.len;
}

/* Returns the file whose metadata are changed. The kinds of metadata are not distinguished. */
static const es_file_t *meta_target(const es_message_t *from)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_SETMODE:
		return from->event.setmode.target;
	case ES_EVENT_TYPE_AUTH_SETOWNER:
		return from->event.setowner.target;
	case ES_EVENT_TYPE_AUTH_SETFLAGS:
		return from->event.setflags.target;
	case ES_EVENT_TYPE_AUTH_UTIMES:
		return from->event.utimes.target;
	case ES_EVENT_TYPE_AUTH_SETEXTATTR:
		return from->event.setextattr.target;
	case ES_EVENT_TYPE_AUTH_DELETEEXTATTR:
		return from->event.deleteextattr.target;
	case ES_EVENT_TYPE_AUTH_SETATTRLIST:
		return from->event.setattrlist.target;
	case ES_EVENT_TYPE_AUTH_SETACL:
		return from->event.setacl.target;
	default:
		return NULL;
	}
}

static void read_two(const es_message_t *from, struct es_reading *r)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_LINK:
		r->path = found_path(from->event.link.source, r);
		r->path2 =
			new_path(from->event.link.target_dir, from->event.link.target_filename, r);
		return;
	case ES_EVENT_TYPE_AUTH_CLONE:
		r->path = found_path(from->event.clone.source, r);
		r->path2 = new_path(from->event.clone.target_dir, from->event.clone.target_name, r);
		return;
	case ES_EVENT_TYPE_AUTH_COPYFILE:
		r->path = found_path(from->event.copyfile.source, r);
		r->path2 = new_path(from->event.copyfile.target_dir,
				    from->event.copyfile.target_name, r);
		if (from->event.copyfile.target_file)
			note_second(from->event.copyfile.target_file, r);
		return;
	case ES_EVENT_TYPE_AUTH_EXCHANGEDATA:
		r->path = found_path(from->event.exchangedata.file1, r);
		note_second(from->event.exchangedata.file2, r);
		r->path2 = file_path(from->event.exchangedata.file2, r);
		return;
	default:
		return;
	}
}

static void read_one(const es_message_t *from, struct es_reading *r)
{
	const es_file_t *target = meta_target(from);

	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_OPEN:
		r->m.writes = from->event.open.fflag & FWRITE;
		r->m.truncates = from->event.open.fflag & O_TRUNC;
		r->path = found_path(from->event.open.file, r);
		return;
	case ES_EVENT_TYPE_AUTH_TRUNCATE:
		r->path = found_path(from->event.truncate.target, r);
		return;
	case ES_EVENT_TYPE_AUTH_UNLINK:
		r->path = found_path(from->event.unlink.target, r);
		return;
	case ES_EVENT_TYPE_AUTH_UIPC_BIND:
		r->m.mode = S_IFSOCK | (from->event.uipc_bind.mode & 07777u);
		r->path = new_path(from->event.uipc_bind.dir, from->event.uipc_bind.filename, r);
		return;
	case ES_EVENT_TYPE_AUTH_MOUNT:
		r->path = xstrdup(from->event.mount.statfs->f_mntonname);
		return;
	case ES_EVENT_TYPE_AUTH_REMOUNT:
		r->path = xstrdup(from->event.remount.statfs->f_mntonname);
		return;
	case ES_EVENT_TYPE_NOTIFY_XPC_CONNECT:
		r->path = copy(from->event.xpc_connect->service_name);
		return;
	default:
		r->path = target ? found_path(target, r) : NULL;
	}
}

void es_message_body(const es_message_t *from, struct es_reading *r)
{
	switch ((int)r->m.kind) {
	case ES_EXEC:
		read_exec(&from->event.exec, r);
		break;
	case ES_RENAME:
	case ES_RENAMED:
		read_rename(&from->event.rename, r);
		break;
	case ES_CREATED:
		read_create(&from->event.create, r);
		break;
	case ES_CREATE:
		if (from->event_type == ES_EVENT_TYPE_AUTH_CREATE)
			read_create(&from->event.create, r);
		else
			read_one(from, r);
		break;
	case ES_LINK:
	case ES_CLONE:
	case ES_SWAP:
		read_two(from, r);
		break;
	default:
		read_one(from, r);
	}
	if (r->m.kind == ES_XPC_CONNECT)
		r->m.service = r->path;
	else
		r->m.path = r->path;
	r->m.path2 = r->path2;
}

void es_reading_done(struct es_reading *r)
{
	free(r->path);
	free(r->path2);
	buf_done(&r->argv);
}
