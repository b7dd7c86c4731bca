/* state - the numbers that the store has given out; whether the machine was rebooted meanwhile. */
/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "core/base/clock.h"
#include "core/base/io.h"
#include "core/base/log.h"
#include "core/journal/fs/in_place.h"
#include "core/journal/store/store.h"
#include "core/os/file.h"

/* Numbers that are used before the file is written again. */
#define RESERVE ((uint64_t)1 << 20)

int state_save(struct journal *j)
{
	int r = io_pwrite_all(j->state_fd, j->state, sizeof(*j->state), 0);

	if (r == 0)
		j->ids_given = false;
	return r;
}

int store_seq_keep(struct journal *j)
{
	uint64_t reserved = j->state->reserved_seq;
	int r;

	if (j->state->next_seq < reserved)
		return 0;
	j->state->reserved_seq = j->state->next_seq + RESERVE;
	r = state_save(j);
	if (r < 0)
		j->state->reserved_seq = reserved;
	return r;
}

uint64_t store_seq(struct journal *j)
{
	if (store_seq_keep(j) < 0)
		return j->state->next_seq++; /* only for a name: a record's number was reserved */
	return j->state->next_seq++;
}

static uint64_t boot_number(void)
{
	AUTO_FREE char *text = NULL;
	size_t len = 0;

	if (io_read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", 256, &text, &len) < 0)
		return 0;
	return XXH3_64bits(text, len) | 1;
}

static void state_boot_begin(struct journal *j)
{
	j->rebooted = j->state->boot != boot_number();
	j->state->next_seq = MAX(j->state->next_seq, j->state->reserved_seq);
}

void state_boot_settled(struct journal *j)
{
	j->state->boot = boot_number();
	j->state->session_us = j->session_us; /* the steps of the last session are rolled back */
	j->rebooted = false;
	if (state_save(j) < 0)
		j->state->boot = 0; /* the next start only looks again */
}

/* Raises *ret to the highest number that is a name in these directories. */
static int highest_of(const struct journal *j, const char *const *dirs, uint64_t *ret)
{
	int r = 0;

	for (; r == 0 && *dirs; dirs++) {
		uint64_t one;

		r = store_highest(j, *dirs, &one);
		*ret = MAX(*ret, one);
	}
	return r;
}

/*
 * Makes the state of a new store, or of one that has lost the file. No number that is in the store
 * may be given again. Ids go on after the highest. Sequence numbers are in every record, in images
 * and in other folders' stores: they go on at the clock's microseconds, which none has reached.
 */
static int state_renew(struct journal *j)
{
	static const char *const of_steps[] = {"open", "steps", "redo", BESIDE_DIR, NULL};
	static const char *const others[] = {"posts", "barriers", "trash", NULL};
	uint64_t id = 0, any;
	int r = j->fresh ? 0 : highest_of(j, of_steps, &id);

	any = id;
	if (r == 0 && !j->fresh)
		r = highest_of(j, others, &any);
	if (r < 0)
		return r;
	*j->state = (struct state){.magic = STATE_MAGIC,
				   .next_id = id + 1,
				   .next_seq = any ? (uint64_t)clock_wall_us() : 1};
	/* The last writes may be lost with the file. */
	j->rebooted = any > 0;
	return state_save(j);
}

int state_load(struct journal *j)
{
	ssize_t n;
	int r;

	j->state_fd = openat(j->store, "state", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (j->state_fd < 0)
		return -errno;
	j->state = xcalloc(1, sizeof(*j->state));
	n = io_pread_full(j->state_fd, j->state, sizeof(*j->state), 0);
	if (n < 0)
		return (int)n;
	if (n == 0)
		in_place_keep(j->state_fd);
	r = (size_t)n < sizeof(*j->state) ? posix_fallocate(j->state_fd, 0, sizeof(*j->state)) : 0;
	if (r)
		return -r;
	if ((size_t)n < sizeof(*j->state) || memcmp(j->state->magic, STATE_MAGIC, 8) != 0)
		return state_renew(j);
	state_boot_begin(j);
	return 0;
}

/* Saves the exact next numbers. */
void state_leave(struct journal *j)
{
	if (!j->state || j->lock < 0)
		return;
	j->state->reserved_seq = 0;
	if (state_save(j) < 0)
		log_warn("journal", "the state of '%s' is not up to date", j->store_path);
}

/* ---- a number as a name -----------------------------------------------------------------------
 */

int store_trash(struct journal *j, const char *name)
{
	AUTO_FREE char *to = xasprintf("trash/%" PRIu64, store_seq(j));

	return renameat(j->store, name, j->store, to) < 0 ? -errno : 0;
}
