/* replay_list - `cordon replay --list`: lists recorded sessions, newest first. */
/* SPDX-License-Identifier: MIT */
#include <inttypes.h>
#include <string.h>

#include "core/base/clock.h"
#include "core/base/json.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/record/recorded.h"
#include "tui/commands/show.h"
#include "tui/commands/replay.h"

static void print_json(const struct recorded *r)
{
	AUTO_BUF struct buf out = BUF_INIT;

	buf_fmt(&out, "{\"began\":%" PRId64 ",\"seconds\":%" PRId64 ",\"turns\":%zu", r->began_s,
		r->length_us / 1000000, r->turns);
	json_member(&out, "session", r->session);
	json_member(&out, "folder", r->folder);
	json_member(&out, "command", r->command);
	json_member(&out, "prompt", r->prompt);
	printf("%s}\n", out.data);
}

static void add_folder(struct buf *out, const char *folder)
{
	const char *home = getenv("HOME"), *below = home ? path_below(folder, home) : NULL;
	AUTO_FREE char *shown = below ? xasprintf(*below ? "~/%s" : "~%s", below) : xstrdup(folder);

	text_escape(out, shown, strlen(shown));
}

static void print_row(const struct recorded *r)
{
	const char *id = strrchr(r->session, '-');
	AUTO_BUF struct buf what = BUF_INIT;
	AUTO_BUF struct buf fit = BUF_INIT;
	char when[32], length[24];
	int columns = show_columns();

	show_time(when, sizeof(when), r->began_s * 1000000);
	clock_length(length, r->length_us);
	add_folder(&what, r->folder);
	buf_str(&what, ": ");
	text_escape(&what, r->command, strlen(r->command));
	if (*r->prompt) {
		buf_str(&what, "  \"");
		text_escape(&what, r->prompt, strlen(r->prompt));
		buf_ch(&what, '"');
	}
	if (columns)
		text_fit_end(&fit, what.data, MAX(20, columns - 40));
	else
		buf_str(&fit, what.data);
	printf("%s%-6s%s  %-12s  %8s  %5zu  %s\n", style_on(STYLE_BOLD), id ? id + 1 : "-",
	       style_off(), when, length, r->turns, fit.data);
}

void replay_list(const char *state_dir, bool json)
{
	struct recorded_list all;

	recorded_read(&all, state_dir);
	if (!all.n && !json)
		puts("No session is recorded.");
	else if (!json)
		printf("%s%-6s  %-12s  %8s  %5s  FOLDER: COMMAND%s\n", style_on(STYLE_DIM), "ID",
		       "BEGAN", "LENGTH", "TURNS", style_off());
	for (size_t i = 0; i < all.n; i++) {
		if (json)
			print_json(&all.list[i]);
		else
			print_row(&all.list[i]);
	}
	recorded_done(&all);
}
