/* test_watch - the watcher for external edits, if those never end. */
/* SPDX-License-Identifier: MIT */
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "core/keeper/sources.h"
#include "core/keeper/spec.h"
#include "core/keeper/state.h"
#include "core/keeper/watch/watch.h"
#include "core/keeper/watch/watch_shared.h"
#include "tests/support/journalfix.h"

#define ENOUGH 100 /* reads of one turn: many times what was queued at its start */

static char *flooded; /* a folder that changes faster than the watcher reads */
static int reads;

static void touch(const char *name, int i)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s%d", flooded, name, i);
	close(open(path, O_WRONLY | O_CREAT, 0600));
	unlink(path);
}

static void flood(int n)
{
	for (int i = 0; i < n; i++)
		touch("a name that takes its room in the buffer of events ", i);
}

/* Replaces the library's read(): what is read from the watcher's queue is queued again, and more,
 * before it is judged. */
ssize_t read(int fd, void *buf, size_t n)
{
	ssize_t got = syscall(SYS_read, fd, buf, n);

	if (got > 0 && flooded && reads++ < ENOUGH)
		flood(100);
	return got;
}

static void a_flood_does_not_hold_it(void **state)
{
	struct fix *f = *state;
	struct keeper_spec spec = {0};
	struct keeper k = {.spec = &spec, .epoll = epoll_create1(EPOLL_CLOEXEC)};
	struct folder folder = {.keeper = &k, .path = f->folder, .journal = f->j},
		      *list[] = {&folder};

	folder.fd = open(f->folder, O_PATH | O_DIRECTORY | O_CLOEXEC);
	spec.state_dir = f->state;
	k.folders = list;
	k.n_folders = 1;
	watch_start(&k);
	assert_non_null(k.watch);
	flooded = f->folder;
	flood(200);
	reads = 0;
	watch_drain(&k);
	flooded = NULL;
	assert_in_range(reads, 2, ENOUGH - 1);
	assert_true(k.watch->settle_at > 0); /* the edits were seen */
	watch_stop(&k);
	sources_bury(&k);
	close(folder.fd);
	close(k.epoll);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_flood_does_not_hold_it, fix_setup, fix_teardown),
	};

	return cmocka_run_group_tests_name("watch", tests, NULL, NULL);
}
