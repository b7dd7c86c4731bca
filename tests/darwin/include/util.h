/* util - the parts of the SDK's <util.h> that we use, for systems without it. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <sys/ioctl.h>
#include <termios.h>

int openpty(int *master, int *slave, char *name, struct termios *term, struct winsize *size);
int forkpty(int *master, char *name, struct termios *term, struct winsize *size);
int login_tty(int fd);
