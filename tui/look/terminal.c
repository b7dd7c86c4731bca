/* terminal - the user's terminal, as a client describes it to the host that draws on it. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define VARIABLE_MAX 4096

enum { /* flags in the greeting's third number */
	WISH_PLAIN = 1,
	WISH_READ_ONLY = 2,
	WISH_UNDO = 4,
};

/* The members that hold environment variables, and their names. */
#define VARIABLES(X)                                                                               \
	X(term, "TERM")                                                                            \
	X(colorterm, "COLORTERM")                                                                  \
	X(no_color, "NO_COLOR")                                                                    \
	X(tmux, "TMUX")                                                                            \
	X(tmux_pane, "TMUX_PANE")                                                                  \
	X(lc_all, "LC_ALL")                                                                        \
	X(lc_ctype, "LC_CTYPE")                                                                    \
	X(lang, "LANG")

/* Opens the terminal of a standard descriptor anew: O_NONBLOCK on a shared fd 0 would cut the
 * writes of every other process that shares it. After `su` the terminal belongs to another user and
 * may not be opened: fd 0 itself is used, until rescue_restore() restores its flags. */
int terminal_open(void)
{
	const int flags = O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY;
	char name[128];
	int tty;

	for (int fd = 0; fd <= 2; fd++) {
		if (isatty(fd) && ttyname_r(fd, name, sizeof(name)) == 0) {
			tty = open(name, flags);
			if (tty >= 0)
				return tty;
		}
	}
	tty = open("/dev/tty", flags);
	if (tty < 0)
		tty = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	return tty < 0 ? -errno : tty;
}

int terminal_check(const char *option, struct err *err)
{
	if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO))
		return 0;
	return err_say(err, -ENOTTY,
		       "the console needs a terminal on its input and output: "
		       "run it in one, or add %s",
		       option);
}

void terminal_size(int fd, int *w, int *h)
{
	struct winsize ws = {0};

	if (ioctl(fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 && ws.ws_row > 0) {
		*w = ws.ws_col;
		*h = ws.ws_row;
	}
}

static char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value && strlen(value) < VARIABLE_MAX ? xstrdup(value) : NULL;
}

void terminal_here(struct terminal *t)
{
	*t = (struct terminal){.w = 80, .h = 24};
	terminal_size(STDOUT_FILENO, &t->w, &t->h);
#define X(member, name) t->member = variable(name);
	VARIABLES(X)
#undef X
}

void terminal_put(const struct terminal *t, struct buf *out)
{
	buf_fmt(out, "%d %d %d", t->w, t->h,
		(t->plain ? WISH_PLAIN : 0) | (t->read_only ? WISH_READ_ONLY : 0) |
			(t->undo ? WISH_UNDO : 0));
	buf_add(out, "", 1);
#define X(member, name)                                                                            \
	if (t->member) {                                                                           \
		buf_fmt(out, "%s=%s", name, t->member);                                            \
		buf_add(out, "", 1);                                                               \
	}
	VARIABLES(X)
#undef X
}

static void take(struct terminal *t, const char *s)
{
#define X(member, name)                                                                            \
	if (!t->member && str_starts(s, name "="))                                                 \
		t->member = xstrdup(s + strlen(name "="));
	VARIABLES(X)
#undef X
}

int terminal_get(struct terminal *t, const struct span *data)
{
	const char *s = data->data, *end = s + data->len, *nul;
	int wishes;

	*t = (struct terminal){0};
	nul = data->len ? memchr(s, '\0', data->len) : NULL;
	if (!nul || sscanf(s, "%d %d %d", &t->w, &t->h, &wishes) != 3 || t->w < 1 || t->h < 1)
		return -EPROTO;
	t->plain = wishes & WISH_PLAIN;
	t->read_only = wishes & WISH_READ_ONLY;
	t->undo = wishes & WISH_UNDO;
	t->w = MIN(t->w, TERMINAL_MAX);
	t->h = MIN(t->h, TERMINAL_MAX);
	for (s = nul + 1; s < end; s = nul + 1) {
		nul = memchr(s, '\0', (size_t)(end - s));
		if (!nul)
			return -EPROTO;
		take(t, s);
	}
	return 0;
}

void terminal_done(struct terminal *t)
{
#define X(member, name) free(t->member);
	VARIABLES(X)
#undef X
	*t = (struct terminal){0};
}

bool terminal_is_modern(const struct terminal *t)
{
	return t->term && !str_eq(t->term, "linux") && !str_starts(t->term, "vt") &&
	       !str_eq(t->term, "dumb");
}

/* "de_DE.UTF-8@euro"; macOS has "UTF-8" alone. */
bool terminal_is_utf8(const struct terminal *t)
{
	const char *locale = t->lc_all ? t->lc_all : t->lc_ctype ? t->lc_ctype : t->lang;
	const char *dot = locale ? strchr(locale, '.') : NULL, *set = dot ? dot + 1 : locale;

	if (t->term && str_starts(t->term, "vt"))
		return false;
	return !set || strncasecmp(set, "utf-8", 5) == 0 || strncasecmp(set, "utf8", 4) == 0;
}

bool terminal_here_is_utf8(void)
{
	struct terminal t;
	bool is_utf8;

	terminal_here(&t);
	is_utf8 = terminal_is_utf8(&t);
	terminal_done(&t);
	return is_utf8;
}
