
/*
 * The least that a FastCGI responder can do: what is left when nothing is
 * done.  With a number in the query it answers as many bytes.
 *
 *   empty SOCKET
 */

#include <fcgiapp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>


#define EMPTY_PIECE  32768


static void
empty_body(FCGX_Request *req)
{
    long         left, n;
    const char  *query;
    static char  piece[EMPTY_PIECE];

    query = FCGX_GetParam("QUERY_STRING", req->envp);
    memset(piece, 'x', sizeof(piece));

    for (left = query != NULL ? atol(query) : 0; left > 0; left -= n) {
        n = left < EMPTY_PIECE ? left : EMPTY_PIECE;
        (void) FCGX_PutStr(piece, (int) n, req->out);
    }
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
