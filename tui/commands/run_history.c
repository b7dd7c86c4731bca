/* run_history - reports at a session's end which branches and tags were rewritten. */
/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/path.h"
#include "core/base/text.h"
#include "core/diff/rewritten.h"
#include "core/session/start/repository.h"
#include "tui/commands/run.h"

/* An agent can make any number of git directories: those beyond are reported as not checked. */
#define GIT_DIRS_MAX 64
#define DEPTH_MAX    8
#define SECONDS_MAX  5

struct history {
	const struct run *run;
	struct journal *j; /* opened at the first changed refs */
	struct rewritten_in in;
	const char *common; /* the folder's; others are its submodules */
	int64_t since_us, end_us;
	unsigned n;
	bool cut;
};

static void say_line(void *data, const char *words)
{
	const struct history *h = data;
	const char *below = path_below(h->in.git_dir, h->common);
	AUTO_BUF struct buf shown = BUF_INIT;
	AUTO_BUF struct buf name = BUF_INIT;

	text_escape(&shown, words, strlen(words));
	if (below && str_starts(below, "modules/"))
		text_escape(&name, below + 8, strlen(below + 8));
	if (name.len)
		fprintf(stderr, "cordon: submodule '%s': %s\n", name.data, shown.data);
	else
		fprintf(stderr, "cordon: %s\n", shown.data);
}

static void say_unknown(const char *why)
{
	fprintf(stderr, "cordon: could not check whether git history was rewritten: %s\n", why);
}

static void look_at(struct history *h, const char *git_dir)
{
	const struct journal_spec spec = {
		.folder = h->in.folder, .state_dir = h->run->state_dir, .read_only = true};
	struct err err = {0};

	h->cut = h->cut || ++h->n > GIT_DIRS_MAX || clock_mono_us() > h->end_us;
	if (h->cut || !rewritten_may_be(git_dir, h->since_us))
		return;
	if (!h->j && journal_open(&h->j, &spec, NULL, &err) < 0)
		return;
	h->in.git_dir = git_dir;
	if (rewritten_each(h->j, &h->in, say_line, h, &err) < 0)
		say_unknown(err.text);
}

/* Checks submodules, whose names may have slashes, and which may have submodules. */
static void look_below(struct history *h, const char *dir, int depth)
{
	AUTO_DIR DIR *d = opendir(dir);
	const struct dirent *e;

	while (d && !h->cut && (e = readdir(d))) {
		AUTO_FREE char *path = path_join(dir, e->d_name);
		AUTO_FREE char *modules = path_join(path, "modules");

		if (*e->d_name == '.' || e->d_type != DT_DIR)
			continue;
		h->cut = depth == DEPTH_MAX;
		if (!io_has(path, "HEAD") || !io_has(path, "objects")) {
			look_below(h, path, depth + 1);
			continue;
		}
		look_at(h, path);
		look_below(h, modules, depth + 1);
	}
}

/* Checks a working folder's repository, inside or outside it, and its submodules. */
static void look_in(struct history *h, const char *folder)
{
	CLEANUP(repository_done) struct repository r;
	AUTO_FREE char *dot = path_join(folder, ".git");
	AUTO_FREE char *modules = NULL;
	const enum repository_kind kind = repository_find(&r, folder);
	const bool own = kind == REPOSITORY_OWN;

	h->common = r.common && (own || kind == REPOSITORY_INSIDE) ? r.common : dot;
	h->in.folder = folder;
	h->in.outside = own ? r.common : NULL;
	look_at(h, h->common);
	modules = path_join(h->common, "modules");
	look_below(h, modules, 0);
	journal_close(take_ptr(&h->j));
}

void run_say_rewritten(const struct run *run, int64_t since_us)
{
	const struct backend *be = run->spec.backend;
	struct history h = {.run = run,
			    .since_us = since_us,
			    .end_us = clock_mono_us() + SECONDS_MAX * INT64_C(1000000)};

	if (!be)
		return;
	h.in.confine = be->confine_reader;
	for (size_t i = 0; i < run->folders.n; i++)
		look_in(&h, run->folders.list[i]);
	if (h.cut)
		say_unknown("there are too many submodules to look at");
}
