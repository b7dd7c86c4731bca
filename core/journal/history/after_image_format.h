/* after_image_format - the head of an after-image file, for its writer and its reader. */
/* SPDX-License-Identifier: MIT */
#pragma once

#define IMAGE_MAGIC    0x32545350u /* "PST2" */
#define IMAGE_HEAD_LEN 24	   /* magic, number, count, length of the list */
/* A flag in the file: struct after_image's `earlier`. */
#define IMAGE_EARLIER 32u
/* The bytes of small text files that existed before the step are stored, as the base of a three-way
 * merge with an external edit: as much as is read and written in a few milliseconds. */
#define IMAGE_BYTES_MAX	 ((size_t)256 << 10)
#define IMAGES_BYTES_MAX ((size_t)4 << 20)
