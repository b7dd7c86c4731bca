/* statx_darwin - statx(2) by stat(2), which has births and flags on macOS. */
/* SPDX-License-Identifier: MIT */
#include "core/os/statx.h"

static struct statx_timestamp stamp(struct timespec t)
{
	return (struct statx_timestamp){.tv_sec = t.tv_sec, .tv_nsec = (uint32_t)t.tv_nsec};
}

int statx(int dirfd, const char *path, int flags, unsigned mask, struct statx *ret)
{
	struct stat st;

	(void)mask;
	if (fstatat(dirfd, path, &st, flags) < 0)
		return -1;
	*ret = (struct statx){
		.stx_mask = STATX_BASIC_STATS | STATX_BTIME | STATX_MNT_ID,
		.stx_nlink = st.st_nlink,
		.stx_uid = st.st_uid,
		.stx_gid = st.st_gid,
		.stx_mode = st.st_mode,
		.stx_ino = st.st_ino,
		.stx_size = (uint64_t)st.st_size,
		.stx_blocks = (uint64_t)st.st_blocks,
		.stx_mnt_id = (uint32_t)st.st_dev,
		.stx_atime = stamp(st.st_atimespec),
		.stx_btime = stamp(st.st_birthtimespec),
		.stx_ctime = stamp(st.st_ctimespec),
		.stx_mtime = stamp(st.st_mtimespec),
		/* 8 and 24 bits: the numbers that core packs have 12 and 20, and devices there are
		 * few. */
		.stx_dev_major = (uint32_t)major(st.st_dev),
		.stx_dev_minor = (uint32_t)minor(st.st_dev),
	};
	if (st.st_flags & (UF_IMMUTABLE | SF_IMMUTABLE))
		ret->stx_attributes |= STATX_ATTR_IMMUTABLE;
	if (st.st_flags & (UF_APPEND | SF_APPEND))
		ret->stx_attributes |= STATX_ATTR_APPEND;
	return 0;
}
