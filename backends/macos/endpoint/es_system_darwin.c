/* es_system_darwin - fills the seam from the messages of libEndpointSecurity, and answers them. */
/* SPDX-License-Identifier: MIT */
#include "backends/macos/endpoint/es_system.h"

#include <EndpointSecurity/EndpointSecurity.h>
#include <bsm/libbsm.h>
#include <dispatch/dispatch.h>
#include <errno.h>
#include <fcntl.h>
#include <mach/mach.h>
#include <mach/mach_time.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/log.h"
#include "core/base/util.h"

#define TICK_NS	     (50 * NSEC_PER_MSEC) /* shorter than the margin before a deadline */
#define FORK_VERSION 4			  /* of messages that have global_seq_num and the parent */

static struct {
	es_client_t *client;
	struct es_queue *queue;
	struct es_out out;
	dispatch_source_t timer;
} the;

/* ---- from the system ------------------------------------------------------------------------- */

static struct es_id id_of(audit_token_t token)
{
	return (struct es_id){audit_token_to_pid(token),
			      (uint32_t)audit_token_to_pidversion(token)};
}

static int64_t us_of(uint64_t mach)
{
	static mach_timebase_info_data_t base;

	if (!base.denom)
		mach_timebase_info(&base);
	return (int64_t)(mach / 1000 * base.numer / base.denom);
}

static int64_t now(void *data)
{
	(void)data;
	return us_of(mach_absolute_time());
}

static char *copy(es_string_token_t text)
{
	return xstrndup(text.data, text.length);
}

/* What a message is made of; the strings are heap. */
struct reading {
	struct es_message m;
	char *path, *path2;
	struct buf argv;
};

static char *file_path(const es_file_t *file, struct reading *r)
{
	r->m.cut |= file->path_truncated;
	return copy(file->path);
}

/* That of the message, which is to be the same file when it is looked for. */
static char *found_path(const es_file_t *file, struct reading *r)
{
	r->m.dev = (uint64_t)file->stat.st_dev;
	r->m.ino = file->stat.st_ino;
	r->m.mode = file->stat.st_mode;
	return file_path(file, r);
}

static char *new_path(const es_file_t *dir, es_string_token_t name, struct reading *r)
{
	AUTO_FREE char *above = file_path(dir, r);

	return xasprintf("%s/%.*s", strcmp(above, "/") == 0 ? "" : above, (int)name.length,
			 name.data);
}

static void read_rename(const es_event_rename_t *e, struct reading *r)
{
	r->path = found_path(e->source, r);
	r->path2 = e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE
			   ? file_path(e->destination.existing_file, r)
			   : new_path(e->destination.new_path.dir, e->destination.new_path.filename,
				      r);
}

static void read_create(const es_event_create_t *e, struct reading *r)
{
	bool exists = e->destination_type == ES_DESTINATION_TYPE_EXISTING_FILE;

	r->m.dir = !exists && S_ISDIR(e->destination.new_path.mode);
	r->m.mode = exists ? 0 : (uint32_t)e->destination.new_path.mode;
	r->path =
		exists ? file_path(e->destination.existing_file, r)
		       : new_path(e->destination.new_path.dir, e->destination.new_path.filename, r);
}

static void read_exec(const es_event_exec_t *e, struct reading *r)
{
	uint32_t n = es_exec_arg_count(e);

	r->path = file_path(e->target->executable, r);
	for (uint32_t i = 0; i < n; i++) {
		es_string_token_t arg = es_exec_arg(e, i);

		buf_add(&r->argv, arg.data, arg.length);
		buf_ch(&r->argv, '\0');
	}
	r->m.argv = r->argv.data;
	r->m.argv_len = r->argv.len;
}

/* Metadata: which of it does not matter. */
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
	default:
		return NULL;
	}
}

static bool read_process_event(const es_message_t *from, struct reading *r)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_EXEC:
		r->m.kind = ES_EXEC;
		read_exec(&from->event.exec, r);
		return true;
	case ES_EVENT_TYPE_AUTH_SIGNAL:
		r->m.kind = ES_SIGNAL;
		r->m.signal = from->event.signal.sig;
		r->m.target = id_of(from->event.signal.target->audit_token);
		return true;
	case ES_EVENT_TYPE_AUTH_GET_TASK:
		r->m.kind = ES_GET_TASK;
		r->m.target = id_of(from->event.get_task.target->audit_token);
		return true;
	case ES_EVENT_TYPE_NOTIFY_FORK:
		r->m.kind = ES_FORK;
		r->m.target = id_of(from->event.fork.child->audit_token);
		return true;
	case ES_EVENT_TYPE_NOTIFY_EXIT:
		r->m.kind = ES_EXIT;
		return true;
	case ES_EVENT_TYPE_NOTIFY_XPC_CONNECT:
		r->m.kind = ES_XPC_CONNECT;
		r->path = copy(from->event.xpc_connect->service_name);
		return true;
	default:
		return false;
	}
}

static bool read_name_event(const es_message_t *from, struct reading *r)
{
	switch ((int)from->event_type) {
	case ES_EVENT_TYPE_AUTH_RENAME:
	case ES_EVENT_TYPE_NOTIFY_RENAME:
		r->m.kind = from->event_type == ES_EVENT_TYPE_AUTH_RENAME ? ES_RENAME : ES_RENAMED;
		read_rename(&from->event.rename, r);
		return true;
	case ES_EVENT_TYPE_AUTH_CREATE:
	case ES_EVENT_TYPE_NOTIFY_CREATE:
		r->m.kind = from->event_type == ES_EVENT_TYPE_AUTH_CREATE ? ES_CREATE : ES_CREATED;
		read_create(&from->event.create, r);
		return true;
	case ES_EVENT_TYPE_AUTH_UNLINK:
		r->m.kind = ES_UNLINK;
		r->path = found_path(from->event.unlink.target, r);
		return true;
	case ES_EVENT_TYPE_AUTH_LINK:
		r->m.kind = ES_LINK;
		r->path = found_path(from->event.link.source, r);
		r->path2 =
			new_path(from->event.link.target_dir, from->event.link.target_filename, r);
		return true;
	case ES_EVENT_TYPE_AUTH_CLONE:
		r->m.kind = ES_CLONE;
		r->path = found_path(from->event.clone.source, r);
		r->path2 = new_path(from->event.clone.target_dir, from->event.clone.target_name, r);
		return true;
	case ES_EVENT_TYPE_AUTH_EXCHANGEDATA:
		r->m.kind = ES_SWAP;
		r->path = found_path(from->event.exchangedata.file1, r);
		r->path2 = file_path(from->event.exchangedata.file2, r);
		return true;
	default:
		return false;
	}
}

/* False: it is none that was asked for. */
static bool read_event(const es_message_t *from, struct reading *r)
{
	const es_file_t *target = meta_target(from);

	if (target) {
		r->m.kind = ES_META;
		r->path = found_path(target, r);
		return true;
	}
	if (from->event_type == ES_EVENT_TYPE_AUTH_OPEN) {
		r->m.kind = ES_OPEN;
		r->m.writes = from->event.open.fflag & FWRITE;
		r->m.truncates = from->event.open.fflag & O_TRUNC;
		r->path = found_path(from->event.open.file, r);
		return true;
	}
	if (from->event_type == ES_EVENT_TYPE_AUTH_TRUNCATE) {
		r->m.kind = ES_TRUNCATE;
		r->path = found_path(from->event.truncate.target, r);
		return true;
	}
	return read_name_event(from, r) || read_process_event(from, r);
}

static void on_message(const es_message_t *from)
{
	struct reading r = {.m = {.process = id_of(from->process->audit_token)}, .argv = BUF_INIT};

	if (!read_event(from, &r))
		return;
	if (from->version >= FORK_VERSION) {
		r.m.seq = from->global_seq_num;
		r.m.parent = id_of(from->process->parent_audit_token);
	}
	if (from->action_type == ES_ACTION_TYPE_AUTH) {
		es_retain_message(from);
		r.m.handle = (uint64_t)(uintptr_t)from;
		r.m.deadline_us = us_of(from->deadline);
	}
	if (r.m.kind == ES_XPC_CONNECT)
		r.m.service = r.path;
	else
		r.m.path = r.path;
	r.m.path2 = r.path2;
	es_queue_put(the.queue, &r.m);
	free(r.path);
	free(r.path2);
	buf_done(&r.argv);
}

/* Nothing is cached by the kernel: the same program is inside once and outside the next time. */
static void respond(void *data, uint64_t handle, enum es_kind kind, bool allow)
{
	const es_message_t *m = (const es_message_t *)(uintptr_t)handle;
	es_respond_result_t r;

	(void)data;
	if (kind == ES_OPEN)
		r = es_respond_flags_result(the.client, m,
					    allow ? (uint32_t)m->event.open.fflag : 0, false);
	else
		r = es_respond_auth_result(
			the.client, m, allow ? ES_AUTH_RESULT_ALLOW : ES_AUTH_RESULT_DENY, false);
	if (r != ES_RESPOND_RESULT_SUCCESS)
		log_warn("endpoint", "an answer was not taken: %d", (int)r);
	es_release_message(m);
}

/* ---- life ------------------------------------------------------------------------------------ */

static enum es_lack lack_of(es_new_client_result_t r)
{
	switch ((int)r) {
	case ES_NEW_CLIENT_RESULT_SUCCESS:
		return ES_LACKS_NOTHING;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_ENTITLED:
		return ES_LACKS_ENTITLEMENT;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_PERMITTED:
		return ES_LACKS_PERMISSION;
	case ES_NEW_CLIENT_RESULT_ERR_NOT_PRIVILEGED:
		return ES_LACKS_ROOT;
	case ES_NEW_CLIENT_RESULT_ERR_TOO_MANY_CLIENTS:
		return ES_LACKS_ROOM;
	default:
		return ES_LACKS_SYSTEM;
	}
}

static void start_timer(void)
{
	the.timer =
		dispatch_source_create(DISPATCH_SOURCE_TYPE_TIMER, 0, 0,
				       dispatch_get_global_queue(QOS_CLASS_USER_INTERACTIVE, 0));
	dispatch_source_set_timer(the.timer, DISPATCH_TIME_NOW, TICK_NS, TICK_NS / 10);
	dispatch_source_set_event_handler(the.timer, ^{
	  es_queue_backstop(the.queue);
	});
	dispatch_resume(the.timer);
}

static void stop_timer(void)
{
	dispatch_semaphore_t ended = dispatch_semaphore_create(0);

	dispatch_source_set_cancel_handler(the.timer, ^{
	  dispatch_semaphore_signal(ended);
	});
	dispatch_source_cancel(the.timer);
	dispatch_semaphore_wait(ended, DISPATCH_TIME_FOREVER);
	dispatch_release(ended);
	dispatch_release(the.timer);
	the.timer = NULL;
}

static int subscribe(struct err *err)
{
	static const es_event_type_t events[] = {
		ES_EVENT_TYPE_NOTIFY_FORK,	  ES_EVENT_TYPE_NOTIFY_EXIT,
		ES_EVENT_TYPE_NOTIFY_CREATE,	  ES_EVENT_TYPE_NOTIFY_RENAME,
		ES_EVENT_TYPE_AUTH_EXEC,	  ES_EVENT_TYPE_AUTH_OPEN,
		ES_EVENT_TYPE_AUTH_SIGNAL,	  ES_EVENT_TYPE_AUTH_GET_TASK,
		ES_EVENT_TYPE_AUTH_UNLINK,	  ES_EVENT_TYPE_AUTH_RENAME,
		ES_EVENT_TYPE_AUTH_CREATE,	  ES_EVENT_TYPE_AUTH_TRUNCATE,
		ES_EVENT_TYPE_AUTH_LINK,	  ES_EVENT_TYPE_AUTH_CLONE,
		ES_EVENT_TYPE_AUTH_EXCHANGEDATA,  ES_EVENT_TYPE_AUTH_SETMODE,
		ES_EVENT_TYPE_AUTH_SETOWNER,	  ES_EVENT_TYPE_AUTH_SETFLAGS,
		ES_EVENT_TYPE_AUTH_UTIMES,	  ES_EVENT_TYPE_AUTH_SETEXTATTR,
		ES_EVENT_TYPE_AUTH_DELETEEXTATTR, ES_EVENT_TYPE_AUTH_SETATTRLIST,
	};
	const es_event_type_t xpc = ES_EVENT_TYPE_NOTIFY_XPC_CONNECT;

	if (es_subscribe(the.client, events, ARRAY_LEN(events)) != ES_RETURN_SUCCESS)
		return err_say(err, -EIO,
			       "Endpoint Security does not tell of files: restart the system");
	/* macOS 14 on: without it nothing else is lost. */
	if (es_subscribe(the.client, &xpc, 1) != ES_RETURN_SUCCESS)
		log_info("endpoint", "connections to services are not told of before macOS 14");
	return 0;
}

/* First no answers, then no messages: what waits is denied. The queue is its taker's. */
static void stop(void *data)
{
	(void)data;
	if (the.queue)
		es_queue_shut(the.queue);
	if (the.timer)
		stop_timer();
	if (the.client)
		es_delete_client(the.client);
	the.client = NULL;
	the.queue = NULL;
}

static int start(void *data, struct es_queue **ret, struct err *err)
{
	int r;

	(void)data;
	the.out = (struct es_out){.respond = respond, .now = now};
	the.queue = es_queue_new(&the.out);
	if (!the.queue)
		return err_set(err, -errno, "make a pipe");
	r = es_lack_say(lack_of(es_new_client(&the.client,
					      ^(es_client_t *client, const es_message_t *message) {
						(void)client;
						on_message(message);
					      })),
			err);
	if (r == 0) {
		start_timer();
		r = subscribe(err);
	}
	*ret = the.queue;
	if (r < 0) {
		stop(NULL);
		es_queue_free(*ret);
		*ret = NULL;
	}
	return r;
}

static struct es_id id_of_pid(void *data, int pid)
{
	mach_msg_type_number_t n = TASK_AUDIT_TOKEN_COUNT;
	mach_port_name_t port;
	audit_token_t token;
	struct es_id id = {.pid = pid};

	(void)data;
	if (task_name_for_pid(mach_task_self(), pid, &port) != KERN_SUCCESS)
		return id;
	if (task_info(port, TASK_AUDIT_TOKEN, (task_info_t)&token, &n) == KERN_SUCCESS)
		id = id_of(token);
	mach_port_deallocate(mach_task_self(), port);
	return id;
}

const struct es_system es_system_darwin = {.start = start, .id_of = id_of_pid, .stop = stop};
