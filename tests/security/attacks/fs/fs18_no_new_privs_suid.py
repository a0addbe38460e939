end(status("NoNewPrivs") != "1" and "may gain rights")
