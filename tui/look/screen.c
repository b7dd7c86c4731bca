/* screen - shows surfaces on a terminal that a client relays to. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/screen.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "core/base/io.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/os/file.h"
#include "tui/look/paint.h"

/* Mouse buttons, drags and wheel in SGR form; focus changes; bracketed paste. */
#define MODES_ON   "\033[?1004h\033[?2004h\033[>4;1m" /* the last: Shift-Enter is told apart */
#define MOUSE_ON   "\033[?1002h\033[?1006h"
#define TITLE_PUSH "\033[22;2t"			    /* rescue.c puts it back */
#define ASK_COLORS "\033]10;?\033\\\033]11;?\033\\" /* answered as input: EVENT_COLOR */

struct screen {
	SCREEN *curses;
	FILE *file; /* that curses writes to, in memory */
	struct screen_options opt;
	char *term;
	enum depth depth;
	bool ascii, modern; /* modern: terminal_is_modern() */
	bool suspended, paint_all;
	int colors;
	char *title; /* that the terminal has; NULL: its own */
	bool direct; /* it is like xterm: painted by paint.c; curses paints the others */
	struct paint paint;
	struct surface shown;
};

/* Curses has one current screen. */
static void select_screen(struct screen *s)
{
	set_term(s->curses);
}

static void send_bytes(struct screen *s, const char *bytes, size_t len)
{
	if (len)
		s->opt.send(s->opt.data, bytes, len);
}

static void send(struct screen *s, const char *bytes)
{
	send_bytes(s, bytes, strlen(bytes));
}

/* Takes what curses has written. */
static void take_written(struct screen *s, struct buf *out)
{
	int fd = fileno(s->file);
	off_t len;
	ssize_t n;

	fflush(s->file);
	len = lseek(fd, 0, SEEK_CUR);
	if (len <= 0)
		return;
	buf_reserve(out, (size_t)len);
	n = io_pread_full(fd, out->data + out->len, (size_t)len, 0);
	if (n > 0) {
		out->len += (size_t)n;
		out->data[out->len] = '\0';
	}
	if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
		log_warn("console", "the screen's file cannot be emptied: %s", strerror(errno));
}

static void send_written(struct screen *s)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	take_written(s, &bytes);
	send_bytes(s, bytes.data, bytes.len);
}

static const char *name_of(const char *term)
{
	return term && *term ? term : "unknown";
}

static bool is_addressable(const char *term)
{
	const char *cup;
	int status = 0;

	set_term(NULL); /* setupterm() changes the current screen's description */
	if (setupterm(term, STDOUT_FILENO, &status) != OK)
		return false;
	cup = tigetstr("cup");
	del_curterm(cur_term);
	return cup && cup != (const char *)-1;
}

/* Terminals of today that this machine has no description of (xterm-ghostty, foot, wezterm) obey
 * that of xterm. */
static bool stand_in(struct terminal *t)
{
	const char *term = name_of(t->term);

	if (str_eq(term, "unknown") || str_eq(term, "dumb") || !is_addressable("xterm-256color"))
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

	if (is_addressable(term) || stand_in(t))
		return 0;
	text_escape_into(safe, sizeof(safe), term, strlen(term));
	return err_say(err, -ENOENT,
		       "TERM '%s' is not known here, or cannot show a screen: set it to what your "
		       "terminal is, for example TERM=xterm-256color, or add --headless",
		       safe);
}

/* A terminal that is not said to speak UTF-8 gets it anyway when the C library can: containers
 * have no LANG, their terminals do. */
static bool set_utf8(void)
{
	static bool is_set;

	if (is_set) /* threads that run by now use the locale */
		return str_eq(nl_langinfo(CODESET), "UTF-8");
	is_set = true;
	setlocale(LC_ALL, "");
	if (str_eq(nl_langinfo(CODESET), "UTF-8"))
		return true;
	return setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8");
}

static bool wants_truecolor(const struct terminal *t)
{
	return t->colorterm && (str_eq(t->colorterm, "truecolor") || str_eq(t->colorterm, "24bit"));
}

/* It takes positions as ECMA-48 has them; and it is not Linux, which prints what it does not know.
 */
static bool is_like_xterm(const struct screen *s)
{
	const char *cup = tigetstr("cup");

	return cup && cup != (const char *)-1 && str_starts(cup, "\033[%i") &&
	       !str_starts(s->term, "linux");
}

static void pick_depth(struct screen *s, const struct terminal *t)
{
	s->colors = tigetnum("colors");
	if (t->no_color || s->colors < 8) /* no-color.org */
		s->depth = DEPTH_MONO;
	else if (s->modern && is_like_xterm(s) && wants_truecolor(t))
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
	if (s->colors >= 256) /* what has fewer may print the question */
		send(s, ASK_COLORS);
	if (s->opt.mouse)
		send(s, MOUSE_ON);
}

static void set_up_curses(struct screen *s, const struct terminal *t)
{
	const char *smacs = tigetstr("acsc");

	resizeterm(t->h, t->w);
	pick_depth(s, t);
	if (s->depth != DEPTH_MONO && start_color() == OK)
		use_default_colors();
	s->ascii = s->ascii || str_starts(s->term, "vt") || str_eq(s->term, "dumb") || !smacs;
	s->paint_all = true;
	s->direct = s->modern && is_like_xterm(s);
	/* The first refresh switches to the other screen; where paint.c paints it is the only one.
	 */
	refresh();
	send_written(s);
	if (s->direct)
		paint_init(&s->paint, s->depth, s->colors == 8 && s->depth != DEPTH_TRUE);
}

int screen_open(struct screen **ret, const struct screen_options *opt, struct err *err)
{
	struct screen *s = xcalloc(1, sizeof(*s));
	const struct terminal *t = opt->terminal;
	int fd = os_memory_file("screen");

	s->opt = *opt;
	s->term = xstrdup(name_of(t->term));
	s->ascii = !set_utf8();
	s->modern = terminal_is_modern(t);
	s->file = fd < 0 ? NULL : fdopen(fd, "r+");
	use_env(FALSE);
	s->curses = s->file ? newterm(s->term, s->file, s->file) : NULL;
	if (!s->curses) {
		err_say(err, -ENOENT,
			"TERM '%s' cannot show a screen: set it to what your terminal is, or add "
			"--headless",
			s->term);
		screen_close(s);
		return -ENOENT;
	}
	select_screen(s);
	set_up_curses(s, t);
	modes_on(s);
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (s->curses) {
		select_screen(s);
		endwin();
		send_written(s);
		delscreen(s->curses);
	}
	if (s->file)
		fclose(s->file);
	surface_done(&s->shown);
	paint_done(&s->paint);
	free(s->title);
	free(s->term);
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
	select_screen(s);
	resizeterm(h, w);
	s->paint_all = true;
}

/* ---- painting ------------------------------------------------------------------------------- */

static int curses_color(const struct screen *s, uint32_t c)
{
	c = color_reduce(c, s->depth);
	if (c == COLOR_DEFAULT)
		return -1;
	c &= 0xff;
	return s->colors == 8 ? (int)(c & 7) : (int)c;
}

static attr_t curses_attrs(const struct screen *s, const struct style *st)
{
	attr_t a = A_NORMAL;

	if (st->attr & STYLE_BOLD)
		a |= A_BOLD;
	if (st->attr & STYLE_DIM)
		a |= A_DIM;
	if (st->attr & STYLE_ITALIC)
		a |= A_ITALIC;
	if (st->attr & STYLE_UNDERLINE)
		a |= A_UNDERLINE;
	if (st->attr & STYLE_REVERSE)
		a |= A_REVERSE;
	if (s->colors == 8 && COLOR_IS_INDEX(st->fg) && (st->fg & 0xff) >= 8 &&
	    (st->fg & 0xff) < 16)
		a |= A_BOLD; /* bright colours where there are eight */
	return a;
}

/* Where the C library counts other columns than we do the line would shift: show a sign instead. */
static void cell_text(const struct cell *c, wchar_t *out)
{
	size_t len = strlen(c->text), n = 0;

	for (size_t i = 0; i < len && n < CCHARW_MAX;) {
		int32_t cp;

		i += text_decode(c->text + i, len - i, &cp);
		/* With the selector of emoji many terminals draw a narrow sign wide. */
		if (cp >= ' ' && (cp != 0xfe0f || c->width == 2))
			out[n++] = (wchar_t)cp;
	}
	out[n] = L'\0';
	if (n == 0 || wcwidth(out[0]) != c->width || out[0] == 0x7f)
		wcscpy(out, n == 0 ? L" " : c->width == 2 ? L"\uff1f" : L"?");
	for (size_t i = 1; i < n; i++) {
		if (wcwidth(out[i]) != 0) {
			out[i] = L'\0';
			break;
		}
	}
}

static void paint_cell(struct screen *s, int x, int y, const struct cell *c)
{
	wchar_t text[CCHARW_MAX + 1];
	cchar_t cc;
	int pair = 0;

	if (c->width == 0)
		return;
	if (s->depth != DEPTH_MONO && (c->style.fg || c->style.bg))
		pair = alloc_pair(curses_color(s, c->style.fg), curses_color(s, c->style.bg));
	cell_text(c, text);
	setcchar(&cc, text, curses_attrs(s, &c->style), (short)0, &pair);
	mvadd_wch(y, x, &cc);
}

static bool cell_same(const struct cell *a, const struct cell *b)
{
	return memcmp(a, b, sizeof(*a)) == 0;
}

static void paint_row(struct screen *s, const struct surface *f, int y)
{
	const struct cell *new = surface_cell(f, 0, y);
	struct cell *old = surface_cell(&s->shown, 0, y);

	if (!s->paint_all && memcmp(new, old, (size_t)f->w * sizeof(*new)) == 0)
		return;
	for (int x = 0; x < f->w; x++) {
		if (s->paint_all || !cell_same(&new[x], &old[x]) ||
		    (x + 1 < f->w && new[x].width == 2 && !cell_same(&new[x + 1], &old[x + 1])))
			paint_cell(s, x, y, &new[x]);
	}
	memcpy(old, new, (size_t)f->w * sizeof(*new));
}

static void draw_by_curses(struct screen *s, const struct surface *f)
{
	if (s->shown.w != f->w || s->shown.h != f->h) {
		surface_resize(&s->shown, f->w, f->h);
		s->paint_all = true;
	}
	if (s->paint_all)
		clear();
	for (int y = 0; y < MIN(f->h, LINES); y++)
		paint_row(s, f, y);
	curs_set(f->cursor.visible);
	move(MIN(MAX(f->cursor.y, 0), LINES - 1), MIN(MAX(f->cursor.x, 0), COLS - 1));
	refresh();
}

bool screen_draw(struct screen *s, const struct surface *f)
{
	AUTO_BUF struct buf bytes = BUF_INIT;

	if (s->suspended)
		return false;
	select_screen(s);
	if (s->direct) {
		if (s->paint_all)
			paint_forget(&s->paint);
		paint_frame(&s->paint, f, &bytes);
	} else {
		draw_by_curses(s, f);
		take_written(s, &bytes);
	}
	send_bytes(s, bytes.data, bytes.len);
	s->paint_all = false;
	return bytes.len > 0;
}

void screen_redraw(struct screen *s)
{
	s->paint_all = true;
	select_screen(s);
	if (!s->direct)
		clearok(curscr, TRUE);
}

void screen_bell(struct screen *s)
{
	send(s, "\a");
}

/* The Linux console would print what it does not know. */
void screen_notify(struct screen *s, const char *words)
{
	AUTO_FREE char *bytes = xasprintf("\033]9;%s\a", words);

	if (!str_starts(s->term, "linux"))
		send(s, bytes);
}

void screen_title(struct screen *s, const char *words)
{
	AUTO_FREE char *bytes = xasprintf("\033]2;%s\a", words);

	if (!s->modern || s->suspended || (s->title && str_eq(s->title, words)))
		return;
	send(s, bytes);
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
	select_screen(s);
	endwin();
	send_written(s);
	s->suspended = true;
}

void screen_resume(struct screen *s)
{
	AUTO_BUF struct buf ignored = BUF_INIT;

	select_screen(s);
	endwin(); /* curses switches to the other screen again only after this */
	take_written(s, &ignored);
	s->suspended = false;
	refresh();
	send_written(s);
	modes_on(s);
	screen_redraw(s);
}

const char *screen_library(void)
{
	return curses_version();
}
