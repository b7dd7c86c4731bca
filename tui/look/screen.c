/* screen - the human's terminal: shows surfaces, gives bytes, and is always put back. */
/* SPDX-License-Identifier: MIT */
#include "tui/look/screen.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>
#include <wchar.h>

#define NCURSES_NOMACROS
#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>

#include "core/base/log.h"
#include "core/base/text.h"
#include "tui/look/paint.h"
#include "tui/look/rescue.h"

/* Mouse buttons, drags and wheel in SGR form; focus changes; bracketed paste. */
#define MODES_ON   "\033[?1004h\033[?2004h\033[>4;1m" /* the last: Shift-Enter is told apart */
#define MOUSE_ON   "\033[?1002h\033[?1006h"
#define TITLE_PUSH "\033[22;2t"			    /* rescue.c puts it back */
#define ASK_COLORS "\033]10;?\033\\\033]11;?\033\\" /* answered as input: EVENT_COLOR */

struct screen {
	SCREEN *curses;
	FILE *in, *out;
	int in_fd, out_fd;
	enum depth depth;
	bool ascii, mouse, modern; /* modern: understands private modes and DECSCUSR */
	bool suspended, paint_all;
	int colors;
	char *title; /* that the terminal has; NULL: its own */
	bool direct; /* it is like xterm: painted by paint.c; curses paints the others */
	struct paint paint;
	struct surface shown;
};

static const char *term_name(void)
{
	const char *term = getenv("TERM");

	return term && *term ? term : "unknown";
}

/*
 * The terminal behind one of the standard descriptors, opened anew; else the controlling one. After
 * `su` it belongs to somebody else and may not be opened: then std itself is shared, and becomes
 * non-blocking for everybody who has it until rescue_restore() puts its flags back.
 */
static int open_tty(int flags, int std)
{
	char name[128];
	int tty;

	for (int fd = 0; fd <= 2; fd++) {
		if (isatty(fd) && ttyname_r(fd, name, sizeof(name)) == 0) {
			tty = open(name, flags | O_CLOEXEC | O_NOCTTY);
			if (tty >= 0)
				return tty;
		}
	}
	tty = open("/dev/tty", flags | O_CLOEXEC | O_NOCTTY);
	return tty >= 0 ? tty : fcntl(std, F_DUPFD_CLOEXEC, 3);
}

static bool is_addressable(int tty)
{
	const char *cup;
	int status = 0;

	if (setupterm(term_name(), tty, &status) != OK)
		return false;
	cup = tigetstr("cup");
	del_curterm(cur_term);
	return cup && cup != (const char *)-1;
}

/* Terminals of today that this machine has no description of (xterm-ghostty, foot, wezterm) obey
 * that of xterm. */
static bool stand_in(int tty)
{
	AUTO_FREE char *term = xstrdup(term_name());

	if (str_eq(term, "unknown") || str_eq(term, "dumb"))
		return false;
	setenv("TERM", "xterm-256color", 1);
	if (is_addressable(tty)) {
		log_info("console", "TERM '%.40s' is not known here: xterm-256color is used", term);
		return true;
	}
	setenv("TERM", term, 1);
	return false;
}

int screen_check(struct err *err)
{
	AUTO_CLOSE int tty = open_tty(O_RDWR, STDOUT_FILENO);
	char safe[64];

	if (tty < 0 || !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return err_say(err, -ENOTTY,
			       "the console needs a terminal on its input and output: "
			       "run it in one, or add --headless");
	if (is_addressable(tty))
		return 0;
	if (stand_in(tty))
		return 0;
	text_escape_into(safe, sizeof(safe), term_name(), strlen(term_name()));
	return err_say(err, -ENOENT,
		       "TERM '%s' is not known here, or cannot show a screen: set it to what your "
		       "terminal is, for example TERM=xterm-256color, or add --headless",
		       safe);
}

void screen_probe_size(int *w, int *h)
{
	AUTO_CLOSE int tty = open_tty(O_RDWR, STDOUT_FILENO);
	struct winsize ws = {0};

	*w = 80;
	*h = 24;
	if (tty >= 0 && ioctl(tty, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 && ws.ws_row > 0) {
		*w = ws.ws_col;
		*h = ws.ws_row;
	}
}

/* A terminal that is not said to speak UTF-8 gets it anyway when the C library can: containers
 * have no LANG, their terminals do. */
static bool set_utf8(void)
{
	setlocale(LC_ALL, "");
	if (str_eq(nl_langinfo(CODESET), "UTF-8"))
		return true;
	return setlocale(LC_CTYPE, "C.UTF-8") || setlocale(LC_CTYPE, "en_US.UTF-8");
}

static bool no_color(void) /* no-color.org */
{
	const char *no = getenv("NO_COLOR");

	return no && *no;
}

static bool wants_truecolor(void)
{
	const char *c = getenv("COLORTERM");

	return c && (str_eq(c, "truecolor") || str_eq(c, "24bit"));
}

/* It takes positions as ECMA-48 has them; and it is not Linux, which prints what it does not know.
 */
static bool is_like_xterm(void)
{
	const char *cup = tigetstr("cup");

	return cup && cup != (const char *)-1 && str_starts(cup, "\033[%i") &&
	       !str_starts(term_name(), "linux");
}

static void pick_depth(struct screen *s)
{
	s->colors = tigetnum("colors");
	if (no_color() || s->colors < 8)
		s->depth = DEPTH_MONO;
	else if (s->modern && is_like_xterm() && wants_truecolor())
		s->depth = DEPTH_TRUE;
	else
		s->depth = s->colors >= 256 ? DEPTH_256 : DEPTH_16;
}

/* The descriptor may be non-blocking (see open_tty()); ncurses tries again by itself, too. */
static void send(struct screen *s, const char *bytes)
{
	struct pollfd p = {.fd = s->out_fd, .events = POLLOUT};

	for (size_t len = strlen(bytes); len > 0;) {
		ssize_t n = write(s->out_fd, bytes, len);

		if (n > 0) {
			bytes += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			return; /* the terminal is gone: the loop hears of it as a hang-up */
		}
	}
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
	if (s->mouse)
		send(s, MOUSE_ON);
}

static void set_up_curses(struct screen *s)
{
	const char *smacs = tigetstr("acsc");

	raw();
	noecho();
	nonl();
	intrflush(NULL, FALSE);
	pick_depth(s);
	if (s->depth != DEPTH_MONO && start_color() == OK)
		use_default_colors();
	s->ascii =
		s->ascii || str_starts(term_name(), "vt") || str_eq(term_name(), "dumb") || !smacs;
	s->paint_all = true;
	s->direct = s->modern && is_like_xterm();
	if (!s->direct)
		return;
	/* The first refresh switches to the other screen; curses paints nothing from then on. */
	refresh();
	paint_init(&s->paint, s->depth, s->colors == 8 && s->depth != DEPTH_TRUE);
}

int screen_open(struct screen **ret, const struct screen_options *opt, struct err *err)
{
	struct screen *s = xcalloc(1, sizeof(*s));

	s->mouse = opt->mouse;
	s->ascii = !set_utf8();
	s->modern = !str_eq(term_name(), "linux") && !str_starts(term_name(), "vt") &&
		    !str_eq(term_name(), "dumb");
	s->in_fd = open_tty(O_RDWR | O_NONBLOCK, STDIN_FILENO);
	s->out_fd = open_tty(O_RDWR, STDOUT_FILENO);
	if (s->in_fd < 0 || s->out_fd < 0) {
		screen_close(s);
		return err_set(err, -ENOTTY, "the terminal");
	}
	s->in = fdopen(s->in_fd, "r+");
	s->out = fdopen(s->out_fd, "r+");
	rescue_arm(s->out_fd, s->modern);
	s->curses = newterm(term_name(), s->out, s->out);
	if (!s->curses) {
		screen_close(s);
		return err_say(err, -ENOENT,
			       "TERM '%s' cannot show a screen: set it to what your "
			       "terminal is, or add --headless",
			       term_name());
	}
	set_term(s->curses);
	set_up_curses(s);
	modes_on(s);
	util_set_oom_hook(screen_rescue);
	*ret = s;
	return 0;
}

void screen_close(struct screen *s)
{
	if (!s)
		return;
	if (s->curses) {
		endwin();
		delscreen(s->curses);
	}
	if (s->out_fd >= 0)
		rescue_restore();
	rescue_disarm();
	util_set_oom_hook(NULL);
	if (s->in)
		fclose(s->in);
	else if (s->in_fd >= 0)
		close(s->in_fd);
	if (s->out)
		fclose(s->out);
	else if (s->out_fd >= 0)
		close(s->out_fd);
	surface_done(&s->shown);
	paint_done(&s->paint);
	free(s->title);
	free(s);
}

int screen_fd(const struct screen *s)
{
	return s->in_fd;
}

enum depth screen_depth(const struct screen *s)
{
	return s->depth;
}

bool screen_wants_ascii(const struct screen *s)
{
	return s->ascii;
}

void screen_resized(struct screen *s, int *w, int *h)
{
	struct winsize ws = {0};

	if (ioctl(s->out_fd, TIOCGWINSZ, &ws) == 0 && ws.ws_col > 0 && ws.ws_row > 0)
		resizeterm(ws.ws_row, ws.ws_col);
	*w = COLS;
	*h = LINES;
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
	if (s->direct) {
		if (s->paint_all)
			paint_forget(&s->paint);
		paint_frame(&s->paint, f, &bytes);
		send(s, bytes.data);
	} else {
		draw_by_curses(s, f);
	}
	s->paint_all = false;
	return !s->direct || bytes.len > 0;
}

void screen_redraw(struct screen *s)
{
	s->paint_all = true;
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
	const char *term = getenv("TERM");
	AUTO_FREE char *bytes = xasprintf("\033]9;%s\a", words);

	if (term && !str_starts(term, "linux"))
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
	endwin();
	rescue_restore();
	s->suspended = true;
}

void screen_resume(struct screen *s)
{
	if (s->suspended)
		rescue_rearm();
	s->suspended = false;
	reset_prog_mode();
	refresh();
	modes_on(s);
	screen_redraw(s);
}

void screen_rescue(void)
{
	rescue_restore();
}

const char *screen_library(void)
{
	return curses_version();
}
