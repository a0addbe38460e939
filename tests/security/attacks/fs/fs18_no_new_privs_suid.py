# Looks whether a set-uid program could give it rights.
end(status("NoNewPrivs") != "1" and "may gain rights")
