/* verify - checks that the audit log is complete and unchanged. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "core/audit/audit_priv.h"

struct state {
	const char *path;	/* path of the log */
	const char *file;	/* the file that is read: the log or PATH.1 */
	struct audit_head head; /* content of the head file; seq 0: there is none */
	struct audit_head last;
	bool head_seen;
	uint64_t line; /* 1-based number in the file */
};

static int bad(const struct state *s, struct err *err, const char *what)
{
	return err_say(err, -EBADMSG,
		       "%s:%" PRIu64 ": %s: keep the file as evidence; a new one is begun when it "
		       "is moved away together with %s.head",
		       s->file, s->line, what, s->path);
}

/* Checks a line; len is without the newline. */
static int check_line(struct state *s, const char *line, size_t len, struct err *err)
{
	char hash[AUDIT_HASH_LEN + 1];
	struct audit_head h;

	if (!audit_parse(line, len, &h))
		return bad(s, err, "not a line of an audit log");
	audit_hash(hash, line, len - (AUDIT_HASH_LEN + sizeof(",\"hash\":\"\"}") - 1));
	if (!str_eq(hash, h.hash))
		return bad(s, err, "the line was changed after it was written");
	if (s->last.seq == 0 && h.seq > 1 && h.seq <= s->head.first)
		memcpy(s->last.hash, h.prev, sizeof(h.prev)); /* older lines were dropped */
	else if (h.seq != s->last.seq + 1)
		return bad(s, err, "lines before it are missing or out of order");
	if (!str_eq(h.prev, s->last.hash))
		return bad(s, err, "the line before it was replaced");
	if (h.seq == s->head.seq) {
		s->head_seen = str_eq(h.hash, s->head.hash);
		if (!s->head_seen)
			return bad(s, err, "the head file knows another line here");
	}
	s->last = h;
	return 0;
}

static int read_head(struct state *s)
{
	AUTO_FREE char *name = xasprintf("%s.head", s->path);
	AUTO_CLOSE int fd = open(name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 || !audit_read_head(fd, &s->head))
		return -ENOENT;
	return 0;
}

static int check_file(struct state *s, const char *file, uint64_t *ret_lines, struct err *err)
{
	AUTO_FILE FILE *f = fopen(file, "re");
	AUTO_FREE char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f)
		return -errno;
	s->file = file;
	s->line = 0;
	while ((n = getline(&line, &cap, f)) > 0) {
		s->line++;
		/* An incomplete line, torn by a crash, was never counted. */
		if (line[n - 1] != '\n')
			break;
		if ((size_t)n > AUDIT_LINE_MAX)
			return bad(s, err, "the line is too long");
		if (check_line(s, line, (size_t)n - 1, err) < 0)
			return -EBADMSG;
		++*ret_lines;
	}
	if (ferror(f))
		return err_set(err, -EIO, "read audit log %s", file);
	s->line++;
	return 0;
}

int audit_verify(const char *path, uint64_t *ret_lines, struct err *err)
{
	AUTO_FREE char *aside = xasprintf("%s.1", path);
	struct state s = {.path = path, .file = path};
	int r, head = read_head(&s);

	*ret_lines = 0;
	memset(s.last.hash, '0', AUDIT_HASH_LEN);
	r = check_file(&s, aside, ret_lines, err);
	if (r < 0 && r != -ENOENT)
		return r;
	r = check_file(&s, path, ret_lines, err);
	if (r < 0)
		return r == -EBADMSG || r == -EIO ? r : err_set(err, r, "read audit log %s", path);
	if (head < 0 && *ret_lines)
		return bad(&s, err, "the head file is missing");
	if (s.head.seq && !s.head_seen)
		return bad(&s, err, "the newest lines are missing");
	return 0;
}

uint64_t audit_dropped(const char *path)
{
	struct state s = {.path = path};

	return read_head(&s) == 0 && s.head.first ? s.head.first - 1 : 0;
}
