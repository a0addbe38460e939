
/*
 * The least that a FastCGI responder can do: what is left when nothing is
 * done.  With a number in the query it answers as many bytes, which a process
 * of its own wrote into a pipe.
 *
 *   empty SOCKET
 */

#include <fcgiapp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>


#define EMPTY_PIECE  32768


static void
empty_writes(int fd, long left)
{
    ssize_t      n;
    static char  piece[EMPTY_PIECE];

    memset(piece, 'x', sizeof(piece));

    for ( /* void */ ; left > 0; left -= n) {
        n = write(fd, piece, left < EMPTY_PIECE ? (size_t) left : EMPTY_PIECE);

        if (n == -1) {
            break;
        }
    }

    _exit(0);
}


static void
empty_body(FCGX_Request *req)
{
    int          fd[2];
    char         piece[EMPTY_PIECE];
    pid_t        pid;
    ssize_t      n;
    const char  *query;

    query = FCGX_GetParam("QUERY_STRING", req->envp);

    if (query == NULL || atol(query) == 0 || pipe(fd) == -1) {
        return;
    }

    pid = fork();

    if (pid == 0) {
        empty_writes(fd[1], atol(query));
    }

    (void) close(fd[1]);

    while ((n = read(fd[0], piece, sizeof(piece))) > 0) {
        (void) FCGX_PutStr(piece, (int) n, req->out);
    }

    (void) close(fd[0]);
    (void) waitpid(pid, NULL, 0);
}


int
main(int argc, char **argv)
{
    int           fd;
    char          byte[4096];
    FCGX_Request  req;

    if (argc != 2 || FCGX_Init() != 0) {
        return 2;
    }

    fd = FCGX_OpenSocket(argv[1], 64);

    if (fd == -1 || chmod(argv[1], 0666) == -1
        || FCGX_InitRequest(&req, fd, 0) != 0)
    {
        return 1;
    }

    while (FCGX_Accept_r(&req) == 0) {
        while (FCGX_GetStr(byte, sizeof(byte), req.in) > 0) { /* void */ }

        (void) FCGX_PutS("Content-Type: text/plain\r\n\r\n4\n", req.out);
        empty_body(&req);
        FCGX_Finish_r(&req);
    }

    return 0;
}
