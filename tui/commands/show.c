/* show - output of commands: styles, times, escaped text, and the question before a change. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/show.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "tui/commands/commands.h"

static bool wants_colour(void)
{
	static int answer = -1;

	if (answer < 0) {
		const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

		answer = isatty(STDOUT_FILENO) && !(no && *no) && term && !str_eq(term, "dumb");
	}
	return answer;
}

const char *style_on(enum style s)
{
	static const char *const codes[] = {
		[STYLE_NONE] = "",	   [STYLE_BOLD] = "\033[1m",   [STYLE_DIM] = "\033[2m",
		[STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m", [STYLE_YELLOW] = "\033[33m",
		[STYLE_CYAN] = "\033[36m",
	};

	return wants_colour() ? codes[s] : "";
}

const char *style_off(void)
{
	return wants_colour() ? "\033[0m" : "";
}

int show_columns(void)
{
	struct winsize ws;

	if (!isatty(STDOUT_FILENO))
		return 0;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) < 0 || ws.ws_col == 0)
		return 80;
	return ws.ws_col;
}

void show_time(char *out, size_t size, int64_t wall_us)
{
	time_t then = (time_t)(wall_us / 1000000), now = (time_t)(clock_wall_us() / 1000000);
	struct tm a, b;

	localtime_r(&then, &a);
	localtime_r(&now, &b);
	if (a.tm_year == b.tm_year && a.tm_yday == b.tm_yday)
		strftime(out, size, "%H:%M:%S", &a);
	else if (a.tm_year == b.tm_year)
		strftime(out, size, "%b %d %H:%M", &a);
	else
		strftime(out, size, "%Y-%m-%d", &a);
}

void show_on(FILE *to, const char *s, size_t len)
{
	AUTO_BUF struct buf b = BUF_INIT;

	text_escape(&b, s, len);
	fputs(b.data, to);
}

void show_text(const char *s, size_t len)
{
	show_on(stdout, s, len);
}

void show_option(const char *option, const char *help)
{
	if (strlen(option) > 14)
		printf("  %s\n%18s", option, "");
	else
		printf("  %-14s  ", option);
	show_wrapped(help, 18, 80);
}

void show_wrapped(const char *text, int margin, int columns)
{
	int width = MAX(20, columns - margin), used = 0;

	while (*text) {
		size_t n = strcspn(text, " ");
		AUTO_BUF struct buf word = BUF_INIT;
		int cols;

		text_escape(&word, text, n);
		cols = text_width(word.data);
		if (used && used + 1 + cols > width) {
			printf("\n%*s", margin, "");
			used = 0;
		}
		printf("%s%s", used ? " " : "", word.data);
		used += cols + (used > 0);
		text += n + strspn(text + n, " ");
	}
	putchar('\n');
}

void show_file_line(const char *s, size_t len)
{
	while (len) {
		const char *tab = memchr(s, '\t', len);
		size_t n = tab ? (size_t)(tab - s) : len;

		show_text(s, n);
		if (!tab)
			return;
		putchar('\t');
		s += n + 1;
		len -= n + 1;
	}
}

void show_folder(const char *path)
{
	const char *home = getenv("HOME"), *below = home ? path_below(path, home) : NULL;
	AUTO_FREE char *shown = below ? xasprintf(*below ? "~/%s" : "~%s", below) : NULL;

	show_text(shown ? shown : path, strlen(shown ? shown : path));
}

int confirm_yes(const char *question, struct err *err)
{
	char line[16] = "";

	if (!isatty(STDIN_FILENO))
		return err_say(err, -EPERM, "nobody to ask: add --yes if you mean it");
	show_text(question, strlen(question));
	printf(" [y/N] ");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin) || (*line != 'y' && *line != 'Y'))
		return err_say(err, -ECANCELED, "nothing was changed");
	return 0;
}

int finish(int status, struct err *err)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	if (err && err->code == 0)
		err_set(err, errno ? -errno : -EIO, "write to standard output");
	return CMD_FAILED;
}
