/* util - what we use of the SDK's <util.h>, for systems without it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/ioctl.h>
#include <termios.h>

int openpty(int *master, int *slave, char *name, struct termios *term, struct winsize *size);
int forkpty(int *master, char *name, struct termios *term, struct winsize *size);
int login_tty(int fd);
