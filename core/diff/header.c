/* header - writes the lines above a file's hunks, in git's words. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/diff/diff_priv.h"

int sink_line(const struct sink *to, enum diff_line_kind kind, const char *text, size_t len,
	      int old_line, int new_line)
{
	return to->on(to->data, kind, text, len, old_line, new_line) ? 0 : -ECANCELED;
}

int sink_fmt(const struct sink *to, enum diff_line_kind kind, const char *fmt, ...)
{
	AUTO_BUF struct buf b = BUF_INIT;
	va_list ap;

	va_start(ap, fmt);
	buf_vfmt(&b, fmt, ap);
	va_end(ap);
	return sink_line(to, kind, b.data, b.len, -1, -1);
}

/* Adds the name, quoted as git and patch(1) read it, so that it cannot end the line or the
 * quotes. */
static void quote(struct buf *out, const char *side, const char *path)
{
	static const char letters[] = "abtnvfr"; /* \a is 7 */
	const char *s = path;

	while (*s && (unsigned char)*s >= ' ' && *s != 0x7f && !strchr("\"\\", *s))
		s++;
	if (!*s) {
		buf_fmt(out, "%s%s", side, path);
		return;
	}
	buf_fmt(out, "\"%s", side);
	for (s = path; *s; s++) {
		unsigned char c = (unsigned char)*s;

		if (c >= '\a' && c <= '\r')
			buf_fmt(out, "\\%c", letters[c - '\a']);
		else if (c < ' ' || c == 0x7f)
			buf_fmt(out, "\\%03o", c);
		else
			buf_fmt(out, strchr("\"\\", c) ? "\\%c" : "%c", c);
	}
	buf_ch(out, '"');
}

int diff_write_name(const struct sink *to, const char *sign, const char *side, const char *path)
{
	AUTO_BUF struct buf line = BUF_INIT;

	buf_str(&line, sign);
	quote(&line, side, diff_name(path));
	if (line.data[line.len - 1] != '"' && strchr(path, ' '))
		buf_ch(&line, '\t'); /* without it a name ends at the first space */
	return sink_line(to, DIFF_FILE, line.data, line.len, -1, -1);
}

int diff_write_first(const struct pair *p, const struct sink *to)
{
	AUTO_BUF struct buf line = BUF_INIT;

	buf_str(&line, "diff --git ");
	quote(&line, "a/", diff_name(p->old_path));
	buf_ch(&line, ' ');
	quote(&line, "b/", diff_name(p->new_path));
	return sink_line(to, DIFF_FILE, line.data, line.len, -1, -1);
}

static int write_renamed(const struct sink *to, const char *which, const char *path)
{
	AUTO_BUF struct buf line = BUF_INIT;

	buf_fmt(&line, "rename %s ", which);
	quote(&line, "", path);
	return sink_line(to, DIFF_FILE, line.data, line.len, -1, -1);
}

static const char *type_name(mode_t mode)
{
	switch (mode & S_IFMT) {
	case S_IFDIR:
		return "directory";
	case S_IFLNK:
		return "symbolic link";
	case S_IFIFO:
		return "named pipe";
	case S_IFSOCK:
		return "socket";
	case S_IFCHR:
	case S_IFBLK:
		return "device";
	default:
		return "file";
	}
}

bool diff_is_directory(enum diff_line_kind kind, const char *text, size_t len)
{
	const char *const begins[] = {"new directory mode ", "deleted directory mode ",
				      "old mode 04"};

	for (size_t i = 0; kind == DIFF_FILE && i < ARRAY_LEN(begins); i++)
		if (len >= strlen(begins[i]) && memcmp(text, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static int write_modes(const struct pair *p, const struct sink *to)
{
	const struct change_side *a = &p->before, *b = &p->after;
	int r = 0;

	if (!a->exists)
		return sink_fmt(to, DIFF_FILE, "new %s mode %06o", type_name(b->mode), b->mode);
	if (!b->exists)
		return sink_fmt(to, DIFF_FILE, "deleted %s mode %06o", type_name(a->mode), a->mode);
	if (a->mode != b->mode) {
		r = sink_fmt(to, DIFF_FILE, "old mode %06o", a->mode);
		if (r == 0)
			r = sink_fmt(to, DIFF_FILE, "new mode %06o", b->mode);
	}
	return r;
}

static int write_owner(const struct pair *p, const struct sink *to)
{
	const struct change_side *a = &p->before, *b = &p->after;

	if (!a->exists || !b->exists || (a->uid == b->uid && a->gid == b->gid))
		return 0;
	return sink_fmt(to, DIFF_FILE, "owner %u:%u -> %u:%u", (unsigned)a->uid, (unsigned)a->gid,
			(unsigned)b->uid, (unsigned)b->gid);
}

/* Writes a line for a change of neither name, owner, mode nor content, like touch(1) or a
 * directory's new time. */
int diff_write_same(const struct pair *p, const struct sink *to)
{
	const struct change_side *a = &p->before, *b = &p->after;

	if (!a->exists || !b->exists || a->mode != b->mode || a->uid != b->uid ||
	    a->gid != b->gid || !str_eq(p->old_path, p->new_path))
		return 0;
	return sink_fmt(to, DIFF_META, "Only its times or attributes differ");
}

int diff_write_header(const struct pair *p, const struct sink *to)
{
	int r = diff_write_first(p, to);

	if (r == 0)
		r = write_modes(p, to);
	if (r == 0)
		r = write_owner(p, to);
	if (r == 0 && !str_eq(p->old_path, p->new_path)) {
		r = write_renamed(to, "from", p->old_path);
		if (r == 0)
			r = write_renamed(to, "to", p->new_path);
	}
	return r;
}
