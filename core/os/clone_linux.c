/* clone_linux - FICLONE. */
/* SPDX-License-Identifier: MIT */
#include "core/os/clone.h"

#include <linux/fs.h>
#include <sys/ioctl.h>

int os_share(int src, int dst)
{
	return ioctl(dst, FICLONE, src);
}
