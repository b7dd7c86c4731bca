/* tape - writes the console's terminal and events to the session's recording. */
/* SPDX-License-Identifier: MIT */
#include "tui/console/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/base/path.h"
#include "core/record/export.h"
#include "core/record/recorder.h"
#include "core/record/redact.h"
#include "core/record/ring.h"
#include "core/record/model_changes.h"
#include "tui/term/snapshot.h"

struct tape {
	const struct config *config;
	struct redact *redact;
	struct recorder *rec;
	struct teller *teller;
	struct term *term;
	struct snapshot_filter filter;
	bool input;
	int fd;		  /* the recording, read for --record */
	int dir;	  /* of its file */
	const char *file; /* as given to --record; NULL: none */
	char *state_dir, *session;
};

/* ---- life -------------------------------------------------------------------------------------
 */

static void tape_free(struct tape *t)
{
	redact_free(t->redact);
	util_close_fd(&t->fd);
	util_close_fd(&t->dir);
	free(t->state_dir);
	free(t->session);
	free(t);
}

static int open_dir(struct tape *t, const char *file, struct err *err)
{
	AUTO_FREE char *dir = xstrndup(file, (size_t)(path_base(file) - file));
	struct stat st;

	t->file = file;
	t->dir = open(*dir ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (t->dir < 0)
		return err_set(err, -errno, "--record '%s'", file);
	if (!*path_base(file))
		return err_say(err, -EISDIR, "--record '%s': a directory: name a file", file);
	if (fstatat(t->dir, path_base(file), &st, AT_SYMLINK_NOFOLLOW) == 0)
		return err_say(err, -EEXIST,
			       "--record '%s': is there already: remove it or name another", file);
	return 0;
}

int tape_prepare(struct tape **ret, const struct config *c, const char *file, struct err *err)
{
	const char *const *patterns;
	struct tape *t;
	int r;

	config_list(c, "record.redact", &patterns);
	if (!file && (!config_bool(c, "record.enabled") || !config_int(c, "record.keep")))
		return 0;
	t = xcalloc(1, sizeof(*t));
	t->config = c;
	t->fd = t->dir = -1;
	t->input = config_bool(c, "record.input");
	r = redact_new(&t->redact, patterns, err);
	if (r == 0 && file)
		r = open_dir(t, file, err);
	if (r < 0) {
		tape_free(t);
		return r;
	}
	*ret = t;
	return 0;
}

static void redact_row(void *data, char *text, size_t len)
{
	const struct tape *t = data;

	if (t->rec)
		redact_text(recorder_redact(t->rec), text, len);
}

bool tape_secret(struct tape *t, const char *text)
{
	if (!t || (!t->rec && !t->redact))
		return true;
	return t->rec ? recorder_secret(t->rec, text) : redact_secret(t->redact, text);
}

int tape_open(struct tape *t, const char *state_dir, const struct model *m, struct term *term,
	      struct err *err)
{
	int rows, cols, fd, r;
	int64_t size;

	if (!t)
		return 0;
	size = config_int(t->config, "record.size");
	term_size(term, &rows, &cols);
	t->state_dir = xstrdup(state_dir);
	t->session = xstrdup(m->session);
	r = ring_open(
		&(struct ring_spec){.state_dir = state_dir,
				    .session = m->session,
				    .keep = MAX(config_int(t->config, "record.keep"), (int64_t)1),
				    .size = size},
		&fd, err);
	if (r < 0)
		return r;
	if (t->file)
		t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	r = recorder_open(&t->rec,
			  &(struct recorder_spec){.fd = fd,
						  .cols = cols,
						  .rows = rows,
						  .session = m->session,
						  .folder = m->folder,
						  .command = m->command,
						  .max_bytes = size / 4,
						  .redact = take_ptr(&t->redact)},
			  err);
	if (r < 0)
		return r;
	t->term = term;
	t->filter = (struct snapshot_filter){.redact = redact_row, .data = t};
	term_snapshots(term, &t->filter);
	t->teller = tell_new(t->rec);
	tell_news(t->teller, m);
	return 0;
}

static int write_piece(void *data, const char *bytes, size_t len)
{
	return io_write_all(*(int *)data, bytes, len);
}

/* Writes the file in the directory that was opened before the agent ran, under an unused name. */
static int write_file(struct tape *t, struct err *err)
{
	struct recording *in = NULL;
	AUTO_CLOSE int out = -1;
	int r = recording_open(&in, take_fd(&t->fd), err);

	if (r < 0)
		return err_wrap(err, r, "--record '%s'", t->file);
	out = openat(t->dir, path_base(t->file),
		     O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	r = out < 0 ? -errno
		    : export_cast(in, str_eq(config_str(t->config, "record.cast"), "v3") ? 3 : 2,
				  write_piece, &out);
	recording_free(in);
	return r < 0 ? err_set(err, r, "--record '%s'", t->file) : 0;
}

int tape_close(struct tape *t, bool ran, struct err *err)
{
	bool opened;
	int r = 0;

	if (!t)
		return 0;
	opened = t->rec != NULL;
	tell_free(t->teller);
	recorder_close(t->rec);
	t->rec = NULL;
	if (opened && t->file)
		r = write_file(t, err);
	if (opened && r == 0 && (!ran || !config_bool(t->config, "record.enabled")))
		ring_remove(t->state_dir, t->session);
	tape_free(t);
	return r;
}

/* ---- events ------------------------------------------------------------------------------------
 */

void tape_output(void *data, const char *bytes, size_t len)
{
	struct tape *t = data;
	AUTO_BUF struct buf key = BUF_INIT;
	AUTO_BUF struct buf screen = BUF_INIT;

	if (!t || !t->rec)
		return;
	recorder_output(t->rec, bytes, len);
	if (recorder_wants_key(t->rec) && term_snapshot(t->term, &key, &screen))
		recorder_key(t->rec, (struct span){key.data, key.len},
			     (struct span){screen.data, screen.len});
}

/* Returns whether the terminal echoes; if not, a password is typed, or the program echoes
 * itself. */
static bool echoes(int master)
{
	struct termios tio;

	return tcgetattr(master, &tio) == 0 && tio.c_lflag & ECHO;
}

void tape_input(struct tape *t, int master, const char *bytes, size_t len)
{
	if (!t || !t->rec)
		return;
	if (t->input && echoes(master))
		recorder_input(t->rec, bytes, len);
}

void tape_resize(struct tape *t, int cols, int rows)
{
	if (t)
		recorder_resize(t->rec, cols, rows);
}

void tape_news(struct tape *t, const struct model *m)
{
	if (t && t->rec)
		tell_news(t->teller, m);
}

bool tape_is_thinned(struct tape *t)
{
	return t && recorder_is_thinned(t->rec);
}

bool tape_is_waiting(struct tape *t)
{
	return t && recorder_is_waiting(t->rec);
}

char *tape_failure(struct tape *t)
{
	return t && t->rec ? recorder_failure(t->rec) : NULL;
}
