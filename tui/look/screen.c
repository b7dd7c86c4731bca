/* screen - shows surfaces on a terminal that a client relays to. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/screen.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define NCURSES_NOMACROS
#include <curses.h>
#include <term.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "tui/look/paint.h"

/* Reports of focus changes, bracketed paste, Shift-Enter as a separate key; mouse events in SGR
 * form. */
#define MODES_ON   "\033[?1004h\033[?2004h\033[>4;1m"
#define MOUSE_ON   "\033[?1002h\033[?1006h"
#define NORMAL	   "\033(B\033[0m\033[4l\033[?7h\033[r" /* ASCII, wraps, scrolls all rows */
#define TITLE_PUSH "\033[22;2t"				/* rescue.c restores it */
#define ASK_COLORS "\033]10;?\033\\\033]11;?\033\\"	/* answered as input: EVENT_COLOR */

struct screen {
	struct screen_options opt;
	char *term;
	char *enter, *leave; /* switch to the alternate screen and back, for TERM; may be "" */
	enum depth depth;
	bool utf8, modern; /* terminal_is_utf8(), terminal_is_modern() */
	bool ascii;	   /* no box drawing */
	bool suspended;
	int colors, h;
	char *title; /* set on the terminal; NULL: its own */
	struct paint paint;
};

static void send_bytes(struct screen *s, const char *bytes, size_t len)
{
	if (len)
		s->opt.send(s->opt.data, bytes, len);
}

static void send(struct screen *s, const char *bytes)
{
	send_bytes(s, bytes, strlen(bytes));
}

static const char *name_of(const char *term)
{
	return term && *term ? term : "unknown";
}

/* A terminal as terminfo describes it. */
struct description {
	char *enter, *leave; /* alternate screen; "" if it has none */
	int colors;
	bool has_lines;
};

static void description_done(struct description *d)
{
	free(d->enter);
	free(d->leave);
}

static const char *capability(const char *name)
{
	const char *value = tigetstr(name);

	return value && value != (const char *)-1 ? value : "";
}

/* Returns a copy without the delays ("$<5>") for old terminals. */
static char *copy_capability(const char *name)
{
	AUTO_BUF struct buf out = BUF_INIT;

	for (const char *at = capability(name), *end; *at; at++) {
		end = str_starts(at, "$<") ? strchr(at, '>') : NULL;
		if (end)
			at = end;
		else
			buf_ch(&out, *at);
	}
	return xstrdup(out.data);
}

/* Returns -ENOENT if TERM is unknown, -ENOTSUP if the terminal has no cursor positions of ECMA-48.
 * Only terminfo is used: several curses SCREENs would share one list of windows, which a resize or
 * a close of any of them changes (ncurses 6.4). */
static int describe(struct description *d, const char *term)
{
	int status = 0, r = 0;

	if (setupterm(term, STDOUT_FILENO, &status) != OK)
		return -ENOENT;
	if (str_starts(capability("cup"), "\033[%i"))
		*d = (struct description){
			.enter = copy_capability("smcup"),
			.leave = copy_capability("rmcup"),
			.colors = tigetnum("colors"),
			.has_lines = *capability("acsc"),
		};
	else
		r = -ENOTSUP;
	del_curterm(cur_term);
	return r;
}

static int check(const char *term)
{
	struct description d = {0};
	int r = describe(&d, term);

	description_done(&d);
	return r;
}

/* Replaces the description of a modern terminal that this machine does not know (xterm-ghostty,
 * foot, wezterm) by xterm's. */
static bool stand_in(struct terminal *t)
{
	const char *term = name_of(t->term);

	if (str_eq(term, "unknown") || str_eq(term, "dumb") || check(term) != -ENOENT ||
	    check("xterm-256color") < 0)
		return false;
	log_info("console", "TERM '%.40s' is not known here: xterm-256color is used", term);
	free(t->term);
	t->term = xstrdup("xterm-256color");
	return true;
}

int screen_check(struct terminal *t, struct err *err)
{
	const char *term = name_of(t->term);
	char safe[64];

	if (check(term) == 0 || stand_in(t))
		return 0;
	text_escape_into(safe, sizeof(safe), term, strlen(term));
	return err_say(err, -ENOENT,
		       "TERM '%s' is not known here, or cannot show a screen: set it to what your "
		       "terminal is, for example TERM=xterm-256color, or add --headless",
		       safe);
}

static bool wants_truecolor(const struct terminal *t)
{
	return t->colorterm && (str_eq(t->colorterm, "truecolor") || str_eq(t->colorterm, "24bit"));
}

static void pick_depth(struct screen *s, const struct terminal *t)
{
	if (t->no_color || s->colors < 8) /* no-color.org */
		s->depth = DEPTH_MONO;
	else if (s->modern && wants_truecolor(t))
		s->depth = DEPTH_TRUE;
	else
		s->depth = s->colors >= 256 ? DEPTH_256 : DEPTH_16;
}

static void modes_on(struct screen *s)
{
	if (!s->modern)
		return;
	send(s, MODES_ON TITLE_PUSH);
	free(s->title);
	s->title = NULL;
	if (s->colors >= 256) /* with fewer colours the terminal may print the question */
		send(s, ASK_COLORS);
	if (s->opt.mouse)
		send(s, MOUSE_ON);
}

/* Switches to the alternate screen. */
static void enter(struct screen *s)
{
	send(s, s->enter);
	send(s, NORMAL);
	modes_on(s);
	screen_redraw(s);
}

/* On a terminal with one screen, continues below its content. */
static void leave(struct screen *s)
{
	AUTO_FREE char *below = xasprintf("\033[0m\033[?25h\033[%d;1H", s->h);

	send(s, below);
	send(s, *s->leave ? s->leave : "\r\n");
}

int screen_open(struct screen **ret, const struct screen_options *opt, struct err *err)
{
	const struct terminal *t = opt->terminal;
	struct description d = {0};
	struct screen *s;

	if (describe(&d, name_of(t->term)) < 0)
		return err_say(err, -ENOENT,
			       "TERM '%s' cannot show a screen: set it to what your terminal is, "
			       "or add --headless",
			       name_of(t->term));
	s = xcalloc(1, sizeof(*s));
	s->opt = *opt;
	s->term = xstrdup(name_of(t->term));
	s->enter = take_ptr(&d.enter);
	s->leave = take_ptr(&d.leave);
	s->colors = d.colors;
	s->h = t->h;
	s->modern = terminal_is_modern(t);
	s->utf8 = terminal_is_utf8(t);
	s->ascii = !s->utf8 || !d.has_lines;
	pick_depth(s, t);
	paint_init(&s->paint, s->depth, s->colors == 8 && s->depth != DEPTH_TRUE, !s->modern);
	s->paint.ascii = !s->utf8;
	enter(s);
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	leave(s);
	paint_done(&s->paint);
	free(s->title);
	free(s->term);
	free(s->enter);
	free(s->leave);
	free(s);
}

enum depth screen_depth(const struct screen *s)
{
	return s->depth;
}

bool screen_wants_ascii(const struct screen *s)
{
	return s->ascii;
}

void screen_resize(struct screen *s, int w, int h)
{
	(void)w; /* each frame has its size */
	s->h = h;
	screen_redraw(s);
}

bool screen_draw(struct screen *s, const struct surface *f)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (s->suspended)
		return false;
	paint_frame(&s->paint, f, &bytes);
	send_bytes(s, bytes.data, bytes.len);
	return bytes.len > 0;
}

void screen_redraw(struct screen *s)
{
	paint_forget(&s->paint);
}

void screen_bell(struct screen *s)
{
	send(s, "\a");
}

/* Sends a string command; words are escaped. */
static void send_words(struct screen *s, int command, const char *words)
{
	AUTO_FREE char *bytes = xasprintf("\033]%d;%s\a", command, words);

	for (char *c = bytes; !s->utf8 && *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	send(s, bytes);
}

/* The Linux console would print sequences that it does not know. */
void screen_notify(struct screen *s, const char *words)
{
	if (!str_starts(s->term, "linux"))
		send_words(s, 9, words);
}

void screen_title(struct screen *s, const char *words)
{
	if (!s->modern || s->suspended || (s->title && str_eq(s->title, words)))
		return;
	send_words(s, 2, words);
	free(s->title);
	s->title = xstrdup(words);
}

bool screen_clipboard(struct screen *s, const char *base64)
{
	AUTO_FREE char *bytes = xasprintf("\033]52;c;%s\a", base64);

	if (s->modern)
		send(s, bytes);
	return s->modern;
}

void screen_suspend(struct screen *s)
{
	leave(s);
	s->suspended = true;
}

void screen_resume(struct screen *s)
{
	s->suspended = false;
	enter(s);
}

const char *screen_library(void)
{
	return curses_version();
}
