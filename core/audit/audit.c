/* audit - the append-only log: builds lines, chains them, and keeps the head. */
/* SPDX-License-Identifier: MIT */
#include "core/audit/audit_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/os/text.h"
#include "core/record/redact.h"

/* written early when so many bytes wait */
#define AUDIT_BUFFER (64u << 10)

struct audit {
	int fd, head_fd;
	int failed;	  /* negative errno of the first failure; after it nothing is accepted */
	int64_t reserved; /* bytes of disk space behind the end */
	uint64_t seq, first;
	char hash[AUDIT_HASH_LEN + 1];
	int64_t last_us;
	struct buf pending;
	struct buf line;
	char *session;			      /* as JSON */
	const struct redact *redact;	      /* or NULL */
	uint64_t left, counted[AUDIT_EVENTS]; /* bytes of the session's limit; events beyond */
	uint64_t n_counted;
};

static const char *audit_event_name(enum audit_event event)
{
	static const char *const names[] = {
		[AUDIT_SESSION_START] = "session-start",
		[AUDIT_SESSION_END] = "session-end",
		[AUDIT_EXEC] = "exec",
		[AUDIT_RAN] = "ran",
		[AUDIT_TOUCH] = "touch",
		[AUDIT_DENY] = "deny",
		[AUDIT_ASK] = "ask",
		[AUDIT_DECISION] = "decision",
		[AUDIT_STEP] = "step",
		[AUDIT_UNDO] = "undo",
		[AUDIT_REDO] = "redo",
		[AUDIT_RECOVERY] = "recovery",
		[AUDIT_EXTERNAL] = "external-edit",
		[AUDIT_TURN] = "turn",
		[AUDIT_TRAFFIC] = "traffic",
		[AUDIT_EXCESS] = "excess",
		[AUDIT_SAFEGUARD] = "safeguard",
		[AUDIT_COUNTED] = "counted",
	};

	return names[event];
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Reads the newest line, at most AUDIT_LINE_MAX before the end. A crash may have torn what follows
 * the last newline; the head has not counted that. */
static int read_tail(int fd, struct audit_head *ret, struct err *err)
{
	AUTO_FREE char *tail = NULL;
	struct stat st;
	const char *end, *nl;
	off_t from;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return err_set(err, -errno, "audit log");
	if (st.st_size == 0)
		return 0;
	from = MAX(0, st.st_size - (off_t)AUDIT_LINE_MAX);
	tail = xmalloc(AUDIT_LINE_MAX);
	n = io_pread_full(fd, tail, AUDIT_LINE_MAX, from);
	if (n < 0)
		return err_set(err, (int)n, "read audit log");
	end = memrchr(tail, '\n', (size_t)n);
	if (!end)
		end = tail - 1;
	if (end + 1 < tail + n && ftruncate(fd, from + (end + 1 - tail)) < 0)
		return err_set(err, -errno, "cut the torn end of the audit log");
	if (end < tail)
		return 0;
	nl = memrchr(tail, '\n', (size_t)(end - tail));
	nl = nl ? nl + 1 : tail;
	if (!audit_parse(nl, (size_t)(end - nl), ret))
		memset(ret, 0, sizeof(*ret)); /* audit_verify() will report the line */
	return 0;
}

/* Takes the newer of the two: a log that was cut continues with the number and hash in the head, so
 * that the gap always shows. */
static int find_end(struct audit *a, struct err *err)
{
	struct audit_head line = {0}, head = {0};
	int r = read_tail(a->fd, &line, err);

	if (r < 0)
		return r;
	a->first = 1;
	if (audit_read_head(a->head_fd, &head)) {
		a->first = head.first;
		if (head.seq > line.seq)
			line = head;
	}
	a->seq = line.seq;
	if (line.seq)
		memcpy(a->hash, line.hash, sizeof(a->hash));
	else
		memset(a->hash, '0', AUDIT_HASH_LEN);
	return 0;
}

/* Opens and locks the log. Repeats this if a process that held the lock has renamed the file. */
static int open_locked(const char *path, struct stat *st, struct err *err)
{
	const int flags = O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY;

	for (;;) {
		AUTO_CLOSE int fd = open(path, flags, 0600);

		if (fd < 0)
			return err_set(err, -errno, "open audit log %s", path);
		if (fstat(fd, st) < 0 || !S_ISREG(st->st_mode))
			return err_say(err, -EINVAL, "audit log %s: not a plain file", path);
		if (io_lock_within(fd, AUDIT_WAIT_MS) < 0)
			return err_say(err, -EBUSY,
				       "audit log %s: another cordon writes to it: end that "
				       "session first",
				       path);
		if (fstat(fd, st) == 0 && io_is_at(path, st))
			return take_fd(&fd);
	}
}

/*
 * Sets the file aside. Writes the number of the new oldest line to the head before renaming: if the
 * process is killed in between, older lines are left, which does no harm.
 */
static int rotate(struct audit *a, const char *path, struct err *err)
{
	AUTO_FREE char *aside = xasprintf("%s.1", path);
	char start[32] = "";
	unsigned long long first;
	struct stat st;
	int r, fd;

	if (io_pread_full(a->fd, start, sizeof(start) - 1, 0) < 0 ||
	    sscanf(start, "{\"seq\":%llu,", &first) != 1)
		return 0; /* audit_verify() will report the line; nothing is dropped */
	r = audit_write_head(a->head_fd, a->seq, a->hash, first);
	if (r < 0)
		return err_set(err, r, "write audit log %s.head", path);
	if (rename(path, aside) < 0)
		return err_set(err, -errno, "set audit log %s aside", path);
	a->first = first;
	fd = open_locked(path, &st, err);
	if (fd < 0)
		return fd;
	util_close_fd(&a->fd);
	a->fd = fd;
	return 0;
}

static int open_files(struct audit *a, const char *path, struct err *err)
{
	AUTO_FREE char *head = xasprintf("%s.head", path);
	AUTO_FREE char *dir = xstrndup(path, (size_t)(path_base(path) - path));
	struct stat st = {0};
	int r = *dir ? io_mkdir_p(AT_FDCWD, dir, 0700) : 0;

	if (r < 0)
		return err_set(err, r, "make directory %s for the audit log", dir);
	a->fd = open_locked(path, &st, err);
	if (a->fd < 0)
		return a->fd;
	a->head_fd = open(head, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NOCTTY, 0600);
	if (a->head_fd < 0)
		return err_set(err, -errno, "open audit log %s", head);
	r = find_end(a, err);
	if (r == 0 && st.st_size >= AUDIT_ROTATE_BYTES)
		r = rotate(a, path, err);
	return r;
}

int audit_open(struct audit **ret, const char *path, const char *session, struct err *err)
{
	struct audit *a = xcalloc(1, sizeof(*a));
	AUTO_BUF struct buf quoted = BUF_INIT;
	int r;

	a->fd = a->head_fd = -1;
	a->pending = a->line = (struct buf)BUF_INIT;
	a->left = AUDIT_SESSION_MAX;
	json_quote(&quoted, session, strlen(session));
	a->session = buf_take(&quoted);
	r = open_files(a, path, err);
	if (r < 0) {
		audit_close(a);
		return r;
	}
	*ret = a;
	return 0;
}

static int say_counted(struct audit *a);

void audit_close(struct audit *a)
{
	if (!a)
		return;
	if (say_counted(a) < 0 || audit_flush(a) < 0)
		a->failed = -EIO; /* too late to report */
	if (a->reserved > 0)
		audit_release(a->fd);
	util_close_fd(&a->fd);
	util_close_fd(&a->head_fd);
	buf_done(&a->pending);
	buf_done(&a->line);
	free(a->session);
	free(a);
}

/* ---- appending ------------------------------------------------------------------------------- */

/* Adds a field. Marks one that is cut short, so that it does not look complete. */
static void add_text(struct buf *b, const char *name, const char *value)
{
	size_t len, mark;

	if (!value)
		return;
	buf_fmt(b, ",\"%s\":", name);
	mark = b->len;
	len = strnlen(value, AUDIT_FIELD_MAX);
	for (;;) {
		size_t used;

		json_quote(b, value, len);
		used = b->len - mark;
		if (used <= AUDIT_FIELD_MAX + 2)
			break;
		buf_truncate(b, mark);
		len = len * AUDIT_FIELD_MAX / used;
	}
	if (value[len])
		buf_fmt(b, ",\"%s" AUDIT_CUT "\":true", name);
}

/* Does the same for words that may contain a secret. */
static void add_words(struct audit *a, const char *name, const char *value)
{
	AUTO_FREE char *words = value ? redact_copy(a->redact, value) : NULL;

	add_text(&a->line, name, words);
}

static void build(struct audit *a, const struct audit_entry *e)
{
	struct buf *b = &a->line;
	int64_t now = clock_wall_us();
	char when[32];

	clock_iso(when, now);
	buf_clear(b);
	buf_fmt(b, "{\"seq\":%" PRIu64 ",\"time\":\"%s\",\"session\":%s,\"event\":\"%s\"",
		a->seq + 1, when, a->session, audit_event_name(e->event));
	/* Without this, lines after a clock change would seem out of order. */
	if (now < a->last_us)
		buf_fmt(b, ",\"clock_back_us\":%" PRId64, a->last_us - now);
	a->last_us = now;
	if (e->step)
		buf_fmt(b, ",\"step\":%" PRId64, e->step);
	if (e->pid)
		buf_fmt(b, ",\"pid\":%d", e->pid);
	add_text(b, "op", e->op);
	add_text(b, "path", e->path);
	add_text(b, "path2", e->path2);
	if (e->result < 0)
		buf_fmt(b, ",\"errno\":%d", -e->result);
	else if (e->result > 0)
		buf_fmt(b, ",\"status\":%d", e->result);
	if (e->latency_us >= 0 && (e->event == AUDIT_DECISION || e->latency_us > 0))
		buf_fmt(b, ",\"latency_us\":%" PRId64, e->latency_us);
	add_text(b, "program", e->program);
	add_words(a, "command", e->command);
	add_text(b, "by", e->by);
	add_words(a, "detail", e->detail);
	buf_fmt(b, ",\"prev\":\"%s\"", a->hash);
}

static int append(struct audit *a, const struct audit_entry *e)
{
	build(a, e);
	audit_hash(a->hash, a->line.data, a->line.len);
	a->seq++;
	buf_fmt(&a->line, ",\"hash\":\"%s\"}\n", a->hash);
	buf_add(&a->pending, a->line.data, a->line.len);
	return a->pending.len >= AUDIT_BUFFER ? audit_flush(a) : 0;
}

/* Returns whether processes inside can cause the event without limit. */
static bool is_countable(enum audit_event event)
{
	return event == AUDIT_EXEC || event == AUDIT_RAN || event == AUDIT_TOUCH ||
	       event == AUDIT_DENY || event == AUDIT_STEP || event == AUDIT_EXTERNAL;
}

static int say_counted(struct audit *a)
{
	AUTO_BUF struct buf words = BUF_INIT;

	if (a->failed || !a->n_counted)
		return a->failed;
	buf_str(&words, "not written, only counted:");
	for (size_t i = 0; i < AUDIT_EVENTS; i++)
		if (a->counted[i])
			buf_fmt(&words, " %" PRIu64 " %s", a->counted[i],
				audit_event_name((enum audit_event)i));
	return append(a, &(struct audit_entry){
				 .event = AUDIT_COUNTED, .latency_us = -1, .detail = words.data});
}

/* Counts an event. Writes fewer lines as the number grows: after a kill, at most half is
 * unknown. */
static int count(struct audit *a, enum audit_event event)
{
	a->counted[event]++;
	a->n_counted++;
	return a->n_counted & (a->n_counted - 1) ? 0 : say_counted(a);
}

int audit_append(struct audit *a, const struct audit_entry *e)
{
	int r;

	if (a->failed)
		return a->failed;
	if (!e->inside && !is_countable(e->event))
		return append(a, e);
	if (!a->left)
		return count(a, e->event);
	r = append(a, e);
	a->left -= MIN(a->left, (uint64_t)a->line.len);
	return r;
}

void audit_set_redact(struct audit *a, const struct redact *redact)
{
	a->redact = redact;
}

void audit_set_session_max(struct audit *a, uint64_t bytes)
{
	a->left = bytes;
}

bool audit_is_counting(const struct audit *a)
{
	return !a->left;
}

int audit_flush(struct audit *a)
{
	int r;

	if (a->failed || a->pending.len == 0)
		return a->failed;
	if (a->reserved < AUDIT_RESERVE / 2 && audit_reserve(a->fd))
		a->reserved = AUDIT_RESERVE;
	r = io_write_all(a->fd, a->pending.data, a->pending.len);
	a->reserved -= (int64_t)a->pending.len;
	/* The head is written after the log: a crash in between leaves it older, which does no
	 * harm. */
	if (r == 0)
		r = audit_write_head(a->head_fd, a->seq, a->hash, a->first);
	buf_clear(&a->pending);
	a->failed = r;
	return r;
}
