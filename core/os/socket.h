/* socket - sockets and pipes that are closed on exec from the start, and identity of the peer. */
/* SPDX-License-Identifier: MIT */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <unistd.h>

/*
 * On macOS a descriptor gets its flags just after it was made: another thread that forks and execs
 * in between would inherit it. core forks in processes of one thread, or closes all others.
 * SOCK_SEQPACKET does not exist there for AF_UNIX: OS_PACKETS is a stream of datagrams in order on
 * Linux, SOCK_DGRAM on macOS, where the end of the peer is an error of the next send or receive.
 */
#ifdef __linux__
#define OS_PACKETS SOCK_SEQPACKET
#else
#define OS_PACKETS    SOCK_DGRAM
#define SOCK_CLOEXEC  0x10000000
#define SOCK_NONBLOCK 0x20000000

#ifndef MSG_NOSIGNAL
#define MSG_NOSIGNAL 0x80000
#endif
#define MSG_CMSG_CLOEXEC 0

int os_socket(int family, int type, int protocol);
int os_socketpair(int family, int type, int protocol, int fds[2]);
int pipe2(int fds[2], int flags);
int accept4(int fd, struct sockaddr *addr, socklen_t *len, int flags);
#define socket		 os_socket
#define socketpair	 os_socketpair
#endif

/* Get the identity of the peer of a connected AF_UNIX socket. Return 0 or negative errno. */
int os_peer_uid(int fd, uid_t *ret);
int os_peer_pid(int fd, pid_t *ret); /* at the time of its connect() */
/* Returns AF_UNIX, AF_INET, ...; negative errno: not a socket. */
int os_socket_family(int fd);
/* Returns about how many bytes the peer has not read yet; 0: unknown. Linux: unix(7), SIOCOUTQ. */
size_t os_socket_unread(int fd);
