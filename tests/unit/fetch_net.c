/*
 * Which addresses are on the public internet: the first and the last of each
 * special network are not, and their neighbours are.
 *
 * links: helper/fetch/net.c
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "fetch/fetch.h"


static const struct sockaddr *
address(const char *text)
{
    static struct sockaddr_storage  sa;

    struct sockaddr_in   *in = (struct sockaddr_in *) (void *) &sa;
    struct sockaddr_in6  *in6 = (struct sockaddr_in6 *) (void *) &sa;

    memset(&sa, 0, sizeof(sa));
    sa.ss_family = strchr(text, ':') != NULL ? AF_INET6 : AF_INET;
    assert_int_equal(inet_pton(sa.ss_family, text, sa.ss_family == AF_INET6
                               ? (void *) &in6->sin6_addr
                               : (void *) &in->sin_addr), 1);

    return (struct sockaddr *) &sa;
}


static void
all(const char *const *list, size_t n, bool public)
{
    size_t  i;

    for (i = 0; i < n; i++) {
        if (net_public(address(list[i])) != public) {
            fail_msg("%s: %s", list[i], public ? "is public" : "is not");
        }
    }
}


static void
what_is_special_is_not_public(void **state)
{
    static const char *const  list[] = {
        "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255",
        "100.64.0.0", "100.127.255.255", "127.0.0.0", "127.255.255.255",
        "168.63.129.16", "169.254.0.0", "169.254.255.255", "172.16.0.0",
        "172.31.255.255", "192.0.0.0", "192.0.0.255", "192.0.2.0",
        "192.0.2.255", "192.88.99.1", "192.168.0.0", "192.168.255.255",
        "198.18.0.0", "198.19.255.255", "198.51.100.0", "203.0.113.255",
        "224.0.0.0", "239.255.255.255", "240.0.0.0", "255.255.255.255",
        "::", "::1", "::2", "::ffff:8.8.8.8", "::8.8.8.8", "64:ff9b::808:808",
        "64:ff9b:1::1", "100::1", "1fff:ffff::1", "2001::1",
        "2001:1ff:ffff::1", "2001:db8::1", "2001:db8:ffff::1", "2002::1",
        "2002:ffff::1", "3ffe::1", "3fff::1", "3fff:fff:ffff::1", "4000::1",
        "5f00::1", "fc00::1", "fdff::1", "fe80::1", "febf::1", "fec0::1",
        "ff02::1", "ffff::1", "2a00:1450::5efe:a00:1",
        "2a00:1450::200:5efe:a00:1"
    };

    (void) state;
    all(list, sizeof(list) / sizeof(list[0]), false);
}


static void
its_neighbours_are(void **state)
{
    static const char *const  list[] = {
        "1.0.0.0", "8.8.8.8", "9.255.255.255", "11.0.0.0", "100.63.255.255",
        "100.128.0.0", "126.255.255.255", "128.0.0.0", "168.63.129.15",
        "168.63.129.17", "169.253.255.255", "169.255.0.0", "172.15.255.255",
        "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
        "192.88.98.1", "192.88.100.0", "192.167.255.255", "192.169.0.0",
        "198.17.255.255", "198.20.0.0", "198.51.99.255", "198.51.101.0",
        "203.0.112.255", "203.0.114.0", "223.255.255.255", "2000::1",
        "2001:200::1", "2001:db7:ffff::1", "2001:db9::1", "2001:ffff::1",
        "2003::1", "2606:4700::1111", "2a00:1450::1", "3ffd::1",
        "3fff:1000::1", "2a00:1450::5eff:a00:1"
    };

    (void) state;
    all(list, sizeof(list) / sizeof(list[0]), true);
}


static void
no_other_family_is(void **state)
{
    struct sockaddr_un  sa;

    (void) state;
    memset(&sa, 0, sizeof(sa));
    sa.sun_family = AF_UNIX;
    assert_false(net_public((struct sockaddr *) &sa));
}


static void
a_network_has_what_is_in_it(void **state)
{
    fetch_net_t  net;
    static const struct {
        const char  *net;
        const char  *address;
        bool         in;
    } rows[] = {
        { "10.0.0.0/8", "10.255.0.1", true },
        { "10.0.0.0/8", "11.0.0.1", false },
        { "10.0.0.0/9", "10.127.255.255", true },
        { "10.0.0.0/9", "10.128.0.0", false },
        { "10.0.0.4/31", "10.0.0.5", true },
        { "10.0.0.4/31", "10.0.0.6", false },
        { "10.0.0.4", "10.0.0.4", true }, { "10.0.0.4", "10.0.0.5", false },
        { "0.0.0.0/0", "1.2.3.4", true }, { "::/0", "1.2.3.4", false },
        { "::/0", "::ffff:1.2.3.4", true },
        { "0.0.0.0/0", "::ffff:1.2.3.4", false },
        { "fd00::/8", "fdff::1", true }, { "fd00::/8", "fc00::1", false },
        { "fd00::/127", "fd00::1", true }, { "fd00::/127", "fd00::2", false }
    };

    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(net_read(&net, rows[i].net), 0);
        assert_int_equal(net_has(&net, address(rows[i].address)), rows[i].in);
    }
}


static void
what_is_no_network_is_refused(void **state)
{
    fetch_net_t               net;
    static const char *const  bad[] = {
        "", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/8x",
        "10.0.0.0/ 8", "10.0.0.0/0x8", "10.0.0/8", "10.0.0.0.0", "010.0.0.1",
        "1", "::/129", ":::", "[::1]", "fe80::1%lo", "localhost",
        "10.0.0.0/99999999999999999999",
        "1111:2222:3333:4444:5555:6666:7777:8888:9999:aaaa:bbbb:cccc:dddd"
    };

    size_t  i;

    (void) state;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(net_read(&net, bad[i]), -1);
    }
}


int
main(void)
{
    const struct CMUnitTest  tests[] = {
        cmocka_unit_test(what_is_special_is_not_public),
        cmocka_unit_test(its_neighbours_are),
        cmocka_unit_test(no_other_family_is),
        cmocka_unit_test(a_network_has_what_is_in_it),
        cmocka_unit_test(what_is_no_network_is_refused)
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
