
/*
 * One packet, with descriptors, over a SOCK_SEQPACKET socket.
 */

#ifndef RETORT_FDPASS_H
#define RETORT_FDPASS_H

#include <sys/types.h>


#define FDPASS_MAX  16


/*
 * Sends one packet of "len" bytes and "nfd" descriptors, which stay the
 * caller's.  0, or -1 with errno; a packet is never sent in part.
 */

int fd_send(int sock, const void *msg, size_t len, const int *fds, int nfd);


/*
 * Receives one packet.  The result is its length, 0 at the end of file, -1
 * with errno.  Up to "*nfd" descriptors are stored in "fds" (close-on-exec)
 * and belong to the caller; *nfd says how many came.  A packet longer than
 * "size", or with more descriptors than were asked for, is EMSGSIZE, and its
 * descriptors are closed.
 */

ssize_t fd_recv(int sock, void *msg, size_t size, int *fds, int *nfd,
    int flags);


#endif /* RETORT_FDPASS_H */
