cp "$SAMPLES/night.asdf" x.asdf
cippus rm x.asdf exposure/frames/0
cippus rm x.asdf /instrument
cippus rm x.asdf exposure/start --history 'start was wrong'
cippus tree x.asdf exposure
cippus rm x.asdf instrument 2>&1 || echo "status $?"
cippus rm x.asdf '' 2>&1 || echo "status $?"
cippus rm x.asdf image
cippus ls x.asdf
cippus verify --deep x.asdf
