/* after_image_format - the head of a post-image's file, for those who write and read it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#define POST_MAGIC    0x32545350u /* "PST2" */
#define POST_HEAD_LEN 24	  /* magic, number, count, length of the list */
/* Among the flags: struct post's `earlier`. */
#define POST_EARLIER 32u
/* Of text files that were there before, the bytes: the base of a three-way merge when somebody
 * edits one. At most as much as is read and written in a few milliseconds. */
#define POST_IMAGE_MAX	((size_t)256 << 10)
#define POST_IMAGES_MAX ((size_t)4 << 20)
