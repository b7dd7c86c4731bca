/* replay - `cordon replay`: a recorded session, or any asciicast, in the console. */
/* SPDX-License-Identifier: MIT */
#include "tui/commands/replay.h"
#include "tui/commands/replay_diffs.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/text.h"
#include "core/config/config.h"
#include "core/record/export.h"
#include "core/record/recording_time.h"
#include "core/record/ring.h"
#include "core/session/folders.h"
#include "tui/commands/commands.h"
#include "tui/commands/flags.h"
#include "tui/console/console.h"

#define WRITTEN_US 2000000 /* older events are in the recording, if at all */

struct replay_options {
	bool headless, list, json;
	const char *format, *cast, *at, *speed, *idle;
};

static const struct flag flags[] = {
	{"--headless", NULL, offsetof(struct replay_options, headless),
	 "print the events, a line each"},
	{"--list", NULL, offsetof(struct replay_options, list),
	 "list the recorded sessions: ID, begin, length, turns, folder, command, first prompt"},
	{"--json", NULL, offsetof(struct replay_options, json),
	 "with --list: one object a line: began, seconds, turns, session, folder, command, prompt"},
	{"--export", "cast|txt|html|gif", offsetof(struct replay_options, format),
	 "write to standard output: an asciicast, the text, a page that plays in a browser, or an "
	 "animated picture"},
	{"--cast", "v2|v3", offsetof(struct replay_options, cast),
	 "the version of asciicast that --export cast writes; default: record.cast"},
	{"--speed", "N", offsetof(struct replay_options, speed),
	 "play N times as fast, 0.0625 to 64; also for --export gif"},
	{"--idle-limit", "SECONDS", offsetof(struct replay_options, idle),
	 "cut pauses to this, 0: leave them; default: the value in the recording, else 2; also for "
	 "--export gif"},
	{"--at", "TIME", offsetof(struct replay_options, at),
	 "start paused at 1:02:03, 90 (seconds), 50%, or @1764312345 (seconds since 1970)"},
};

static const struct usage usage = {
	"replay [SESSION|FILE] [--at TIME | --headless | --export cast|txt|html|gif] | "
	"--list [--json]",
	"Play a recorded session in the console: the agent's terminal, its activity, steps and "
	"requests.\nSESSION is the name of a session or the end of the name; the default is the "
	"newest of this folder. FILE is an asciicast of any version, also packed with gzip or "
	"zstd.",
	flags,
	ARRAY_LEN(flags),
};

/* Opens a recording: an existing file, or a name with a slash, is a path. */
static int open_it(const char *name, const char *state_dir, int *ret, struct err *err)
{
	struct stat st;

	if (!strchr(name, '/') && access(name, F_OK) < 0)
		return ring_find(state_dir, name, ret, err);
	*ret = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (*ret < 0 || fstat(*ret, &st) < 0)
		return err_set(err, -errno, "replay '%s'", name);
	if (S_ISREG(st.st_mode))
		return 0;
	util_close_fd(ret);
	*ret = -1;
	return err_say(err, -EINVAL, "replay '%s': not a file: name one, or a session", name);
}

static int open_named(const char *name, const char *state_dir, struct recording **ret,
		      struct err *err)
{
	int fd = -1, r = open_it(name, state_dir, &fd, err);

	if (r == 0 && (r = recording_open(ret, fd, err)) < 0)
		err_wrap(err, r, "replay '%s'", name);
	return r;
}

/* Opens the newest recording of this folder, else of any folder, which *words says. Unreadable ones
 * are skipped. */
static int open_newest(const char *state_dir, struct recording **ret, char **words, struct err *err)
{
	AUTO_FREE char *folder = NULL;
	struct recording *any = NULL, *rec;
	struct err why = {0};
	const char *of = NULL;
	int r = folders_of_cwd(&folder, state_dir, err), fd = -1;

	for (size_t back = 0; r == 0 && ring_newest(state_dir, back, &fd, &why) == 0; back++) {
		if (recording_open(&rec, fd, &why) < 0)
			continue;
		of = recording_header(rec)->folder;
		if (!any || (of && str_eq(of, folder))) {
			recording_free(any);
			any = rec;
		} else {
			recording_free(rec);
		}
		if (of && str_eq(of, folder))
			break;
	}
	if (r < 0)
		return r;
	if (!any)
		return err_say(err, -ENOENT, "%s", why.text);
	of = recording_header(any)->folder;
	if (!of || !str_eq(of, folder))
		*words = xasprintf("No session of this folder is recorded: this is one of %s.",
				   of ? of : "another");
	*ret = any;
	return 0;
}

static struct film_options film_options(const struct recording *rec, const struct replay_options *o)
{
	return (struct film_options){
		.speed = o->speed ? (double)recording_seconds(o->speed) / 1e6 : 1,
		.idle_us = o->idle ? recording_seconds(o->idle) : recording_idle(rec)};
}

static int show(struct recording *rec, const struct replay_options *o,
		const struct attach_spec *where, struct config *config, const char *words,
		struct err *err)
{
	struct film_options film = film_options(rec, o);
	struct console_options opt = {
		.notes = words, .at = o->at, .speed = film.speed, .idle_us = &film.idle_us};

	folders_keep_out(where->state_dir, where->home, NULL, config);
	console_options_set(&opt, config);
	return console_replay(rec, where, &opt, err);
}

/* Waits until a running session has written the events of a clock time, which takes a second at
 * most. */
static int wait_for_it(struct recording **rec, const char *name, const char *state, const char *at,
		       struct err *err)
{
	int64_t wall = recording_wall(at);
	bool reached = wall < 0 || !recording_is_own(*rec);
	int r = 0;

	while (r == 0 && !reached) {
		(void)!recording_at_wall(*rec, wall, &reached);
		if (reached || clock_wall_us() - wall > WRITTEN_US || clock_wall_us() < wall)
			break;
		nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
		recording_free(*rec);
		*rec = NULL;
		r = open_named(name, state, rec, err);
	}
	return r;
}

static int write_out(void *data, const char *bytes, size_t len)
{
	(void)data;
	return io_write_all(STDOUT_FILENO, bytes, len);
}

static int export_page(struct recording *rec, const char *state_dir, const struct config *config)
{
	struct replay_diffs *diffs = replay_diffs_open(rec, state_dir, config);
	int r = replay_export_html(rec, diffs);

	replay_diffs_close(diffs);
	return r;
}

static int print(struct recording *rec, const struct replay_options *o, const char *state_dir,
		 const struct config *config, struct err *err)
{
	const char *cast = o->cast ? o->cast : config_str(config, "record.cast");
	struct film_options film = film_options(rec, o);
	bool gif = o->format && str_eq(o->format, "gif");
	int r;

	if (!o->format)
		r = replay_print_events(rec);
	else if (str_eq(o->format, "cast"))
		r = export_cast(rec, str_eq(cast, "v3") ? 3 : 2, write_out, NULL);
	else if (str_eq(o->format, "txt"))
		r = replay_export_txt(rec);
	else if (gif)
		r = replay_export_gif(rec, &film, err);
	else
		r = export_page(rec, state_dir, config);
	if (recording_trouble(rec))
		fprintf(stderr, "cordon: %s\n", recording_trouble(rec));
	recording_free(rec);
	return r < 0 && !gif ? err_set(err, r, "write to standard output") : r;
}

/* Loads the settings, with the profile of the recorded program. */
static int load_config(struct config **ret, const char *home, const char *state_dir,
		       const char *command, struct err *err)
{
	AUTO_FREE char *program = command ? xstrndup(command, strcspn(command, " ")) : NULL;

	return config_load(ret,
			   &(struct config_spec){.home = home,
						 .config_home = getenv("XDG_CONFIG_HOME"),
						 .command = program,
						 .state_dir = state_dir},
			   err);
}

static int check_film(const struct replay_options *o, struct err *err)
{
	int64_t speed = o->speed ? recording_seconds(o->speed) : 1000000;

	if ((o->speed || o->idle) && (o->headless || (o->format && !str_eq(o->format, "gif"))))
		return err_say(
			err, -EINVAL,
			"--speed and --idle-limit are for the console and --export gif: leave "
			"them out");
	if (speed < (int64_t)(RECORDING_SPEED_MIN * 1e6) ||
	    speed > (int64_t)(RECORDING_SPEED_MAX * 1e6))
		return err_say(err, -EINVAL, "--speed '%s': no number from 0.0625 to 64", o->speed);
	if (o->idle && recording_seconds(o->idle) < 0)
		return err_say(err, -EINVAL, "--idle-limit '%s': no number of seconds", o->idle);
	return 0;
}

static int check(const struct replay_options *o, const struct strings *args, struct err *err)
{
	static const char *const formats[] = {"cast", "txt", "html", "gif", NULL};

	if (o->list ? args->n || o->headless || o->format || o->at : o->json)
		return err_say(err, -EINVAL,
			       "replay: --list goes with --json alone, and --json with --list: "
			       "leave the others out");
	if (args->n > 1)
		return err_say(err, -EINVAL, "replay: takes one name: usage: cordon %s",
			       usage.synopsis);
	if (o->format && !str_one_of(o->format, formats))
		return err_say(err, -EINVAL, "--export '%s': none of cast, txt, html, gif",
			       o->format);
	if (o->at && (o->headless || o->format))
		return err_say(err, -EINVAL,
			       "--at is for the console, --headless and --export write the whole "
			       "recording: leave one out");
	if (o->cast && !str_eq(o->cast, "v2") && !str_eq(o->cast, "v3"))
		return err_say(err, -EINVAL, "--cast '%s': neither v2 nor v3", o->cast);
	return check_film(o, err);
}

static int replay(const struct replay_options *o, const struct strings *args, struct err *err)
{
	const char *home = getenv("HOME") ? getenv("HOME") : "/";
	const char *name = args->n && args->list ? args->list[0] : NULL;
	AUTO_FREE char *state = folders_state_dir(home);
	struct recording *rec = NULL;
	struct config *config = NULL;
	AUTO_FREE char *words = NULL;
	int r;

	if (o->list) {
		replay_list(state, o->json);
		return 0;
	}
	r = name ? open_named(name, state, &rec, err) : open_newest(state, &rec, &words, err);
	if (r == 0)
		r = load_config(&config, home, state, recording_header(rec)->command, err);
	if (r < 0)
		recording_free(rec);
	if (r == 0 && words && (o->headless || o->format)) {
		AUTO_BUF struct buf shown = BUF_INIT;

		text_escape(&shown, words, strlen(words));
		fprintf(stderr, "cordon: %s\n", shown.data);
	}
	if (r == 0 && o->at && name)
		r = wait_for_it(&rec, name, state, o->at, err);
	if (r == 0 && o->at && recording_time(rec, o->at) < 0) {
		recording_free(rec);
		r = err_say(err, -EINVAL,
			    "--at '%s': no time: say 1:02:03, 90 (seconds), 50%% or @1764312345 "
			    "(seconds since 1970)",
			    o->at);
	} else if (r == 0) {
		r = o->headless || o->format
			    ? print(rec, o, state, config, err)
			    : show(rec, o, &(struct attach_spec){.home = home, .state_dir = state},
				   config, words, err);
	}
	config_free(config);
	return r;
}

int cmd_replay(int argc, char **argv, struct err *err)
{
	struct replay_options o = {0};
	AUTO_STRINGS struct strings args = {0};
	int r = flags_parse(&usage, argc, argv, &o, &args, err);

	if (r == 0)
		r = check(&o, &args, err);
	if (r == 0)
		r = replay(&o, &args, err);
	else if (r == 1)
		r = 0; /* --help */
	return r < 0 ? CMD_FAILED : r;
}
