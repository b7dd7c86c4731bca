/* history - make steps that touch every file of a folder: history FOLDER STATE STEPS. */
/* SPDX-License-Identifier: MIT */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "core/base/io.h"
#include "core/journal/journal.h"
#include "core/journal/op.h"

#define DIRS  100
#define FILES 100 /* in each directory */

struct place {
	char dir[16], name[16];
	struct at at;
};

static void place(struct place *p, struct journal *j, int dir, int file)
{
	snprintf(p->dir, sizeof(p->dir), "d%d", dir);
	snprintf(p->name, sizeof(p->name), "file%d", file);
	if (file == 0) {
		if (dir)
			close(p->at.dirfd);
		p->at.dirfd = openat(journal_folder_fd(j), p->dir, O_PATH | O_CLOEXEC);
	}
	p->at.dir = p->dir;
	p->at.name = p->name;
}

static int change(struct step *s, const struct at *at, int turn)
{
	static const char text[] = "a line of text\nand another\n";
	int r, fd = op_open(s, at, O_WRONLY | O_CREAT, 0644, NULL);

	if (fd < 0)
		return fd;
	r = io_write_all(fd, text, sizeof(text) - 1 - (size_t)(turn % 2) * 12);
	close(fd);
	return r;
}

/* The first step creates the files, the last one writes to them, the others change their modes. */
static int make_step(struct journal *j, int turn, bool last, struct err *err)
{
	struct place p = {.at.dirfd = -1};
	struct step *s = NULL;
	int r = journal_begin(j, STEP_COMMAND, "sh -c 'change every file'", &s, err);

	for (int d = 0; r >= 0 && d < DIRS; d++)
		for (int f = 0; r >= 0 && f < FILES; f++) {
			struct at top = {.dirfd = journal_folder_fd(j), .dir = "", .name = p.dir};

			snprintf(p.dir, sizeof(p.dir), "d%d", d);
			if (turn == 0 && f == 0)
				r = op_mkdir(s, &top, 0755, NULL);
			place(&p, j, d, f);
			if (r >= 0 && (turn == 0 || last))
				r = change(s, &p.at, turn);
			else if (r >= 0)
				r = op_chmod(s, &p.at, turn % 2 ? 0600 : 0644, NULL);
		}
	if (r < 0)
		return err && err->code ? r : err_set(err, r, "change a file");
	journal_no_writers(j);
	return journal_commit(s, 0, err);
}

int main(int argc, char **argv)
{
	struct journal *j = NULL;
	struct err err = {0};
	int r, steps = argc == 4 ? atoi(argv[3]) : 0;

	if (steps < 1) {
		fprintf(stderr, "usage: history FOLDER STATE STEPS\n");
		return 125;
	}
	r = journal_open(&j, &(struct journal_spec){.folder = argv[1], .state_dir = argv[2]}, NULL,
			 &err);
	for (int i = 0; r >= 0 && i < steps; i++)
		r = make_step(j, i, i == steps - 1, &err);
	journal_close(j);
	if (r < 0)
		fprintf(stderr, "history: %s\n", err.text);
	return r < 0;
}
